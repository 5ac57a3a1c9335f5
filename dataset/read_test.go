package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"

	"sddmmkit/sparse"
)

// readString reads a text from memory.
func readString[T sparse.Float](name, text string, opt Options) (*Set[T], error) {
	return ReadFrom[T](context.Background(), name, strings.NewReader(text), opt)
}

// entry is one entry of a set, for tables of tests.
type entry struct {
	row, col int32
	val      float64
}

func entriesOf[T sparse.Float](s *Set[T]) []entry {
	e := make([]entry, len(s.COO.Val))
	for p := range e {
		e[p] = entry{s.COO.Row[p], s.COO.Col[p], float64(s.COO.Val[p])}
	}
	return e
}

// sameSet says how two sets differ in any bit, or "".
func sameSet[T sparse.Float](a, b *Set[T]) string {
	switch {
	case a.COO.Rows != b.COO.Rows || a.COO.Cols != b.COO.Cols:
		return fmt.Sprintf("shapes %d×%d and %d×%d", a.COO.Rows, a.COO.Cols, b.COO.Rows, b.COO.Cols)
	case !slices.Equal(a.COO.Row, b.COO.Row):
		return fmt.Sprintf("rows %v and %v", a.COO.Row, b.COO.Row)
	case !slices.Equal(a.COO.Col, b.COO.Col):
		return fmt.Sprintf("columns %v and %v", a.COO.Col, b.COO.Col)
	case !slices.EqualFunc(a.COO.Val, b.COO.Val, func(x, y T) bool {
		return math.Float64bits(float64(x)) == math.Float64bits(float64(y))
	}):
		return fmt.Sprintf("values %v and %v", a.COO.Val, b.COO.Val)
	case !slices.Equal(a.Time, b.Time):
		return fmt.Sprintf("times %v and %v", a.Time, b.Time)
	case (a.Rows == nil) != (b.Rows == nil) || a.Rows != nil && !slices.Equal(a.Rows.Names(), b.Rows.Names()):
		return "row names"
	case (a.Cols == nil) != (b.Cols == nil) || a.Cols != nil && !slices.Equal(a.Cols.Names(), b.Cols.Names()):
		return "column names"
	case a.Format != b.Format:
		return fmt.Sprintf("formats %s and %s", a.Format, b.Format)
	}
	return ""
}

// checkRead reads a text on one goroutine in one piece, and on three in tiny pieces from a
// reader that gives little at a time. It fails unless both give the same error, or the same
// valid set.
func checkRead(t *testing.T, name string, data []byte, opt Options) {
	t.Helper()
	ctx := context.Background()
	one := opt
	one.Threads = 1
	want, wantErr := ReadFrom[float32](ctx, name, bytes.NewReader(data), one)
	if (want == nil) == (wantErr == nil) {
		t.Fatalf("set %v and error %v", want, wantErr)
	}
	if wantErr == nil {
		checkSet(t, want)
	} else {
		var pe *ParseError
		if !errors.As(wantErr, &pe) || pe.File != name || strings.ContainsRune(wantErr.Error(), '\n') {
			t.Fatalf("error %q is no ParseError on one line that names the file", wantErr)
		}
	}
	for _, block := range []int{1, 7, 64} {
		three := opt
		three.Threads, three.block = 3, block
		got, err := ReadFrom[float32](ctx, name, iotest.HalfReader(bytes.NewReader(data)), three)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("in blocks of %d: error %v; in one piece: %v", block, err, wantErr)
		}
		if err == nil {
			if diff := sameSet(got, want); diff != "" {
				t.Fatalf("in blocks of %d and in one piece: %s", block, diff)
			}
		}
	}
}

// seedsFrom gives a fuzz target some short texts and variants of them that are cut or damaged.
func seedsFrom(f *testing.F, texts ...string) {
	for _, s := range texts {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)/2]))
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")))
		f.Add([]byte(strings.Replace(s, "1", "99999999999999999999", 1)))
		f.Add([]byte(strings.Replace(s, "2", "-1", 1)))
		f.Add([]byte(strings.Replace(s, " ", "\x00", 1)))
	}
	f.Add([]byte(""))
}

const (
	mtxText       = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 4 5\n1 1 1.5\n3 4 -2e3\n\n2 2 0\n% late\n1 4 7\n1 1 8\n"
	tsvText       = "196\t242\t3\t881250949\n186\t302\t3\t891717742\n196\t302\t1.5\t878887116\n"
	edgesText     = "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n0\t4\n3\t2\n"
	docwordText   = "3\n5\n4\n1 1 2\n1 5 1\n3 2 7\n3 4 1\n"
	svmText       = "+1 1:0.5 3:1 # note\n-1 qid:7 2:2.5\n0\n1 3:1\n"
	ldacText      = "2 0:1 4:3\n0\n1 2:5\n"
	adjacencyText = "0 1 2 3 5\n1 4\n2\n4 0 1\n"
	smtxText      = "3, 5, 4\n0 2 2 4 \n0 3 1 4 \n"
)

func TestReadFileThroughDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u.data")
	if err := os.WriteFile(path, []byte(tsvText), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read[float64](context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != path || s.Format != Ratings || s.COO.Rows != 2 || s.COO.Cols != 2 || s.COO.NNZ() != 3 {
		t.Errorf("got %+v of %+v", s, s.COO)
	}
}

// compressed returns a text as gzip in two members, as zstd in two frames, and plain.
func compressed(t testing.TB, text string) map[string][]byte {
	t.Helper()
	half := len(text) / 2
	var gz, zst bytes.Buffer
	for _, part := range []string{text[:half], text[half:]} {
		w := gzip.NewWriter(&gz)
		w.Write([]byte(part))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewWriter(&zst)
		if err != nil {
			t.Fatal(err)
		}
		z.Write([]byte(part))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes(), "plain": []byte(text)}
}

func TestCompressedAndMarked(t *testing.T) {
	for name, text := range map[string]string{
		"a.mtx": mtxText, "u.data": tsvText, "e.txt": edgesText, "docword.a.txt": docwordText,
		"a.feat": svmText, "a.dat": ldacText, "a.adj": adjacencyText, "a.smtx": smtxText,
	} {
		want, err := readString[float32](name, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSet(t, want)
		variants := compressed(t, text)
		variants["byte order mark"] = append([]byte{0xef, 0xbb, 0xbf}, text...)
		variants["CRLF"] = []byte(strings.ReplaceAll(text, "\n", "\r\n"))
		variants["no last line end"] = []byte(strings.TrimRight(text, "\n"))
		for kind, data := range variants {
			// The name is no part of the decision: neither .gz nor its absence.
			for _, n := range []string{name, name + ".gz"} {
				got, err := ReadFrom[float32](context.Background(), n, bytes.NewReader(data), Options{})
				if err != nil {
					t.Errorf("%s, %s: %v", n, kind, err)
				} else if diff := sameSet(got, want); diff != "" {
					t.Errorf("%s, %s: %s", n, kind, diff)
				}
			}
		}
	}
}

func TestTruncatedCompression(t *testing.T) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "%d\t%d\t%d\n", i*7919%1000, i*104729%5000, i%5)
	}
	for kind, data := range compressed(t, text.String()) {
		if kind == "plain" {
			continue
		}
		for _, keep := range []int{5, 7, 11, len(data) / 4, len(data)/2 + 50, len(data) * 3 / 4, len(data) - 1} {
			_, err := ReadFrom[float32](context.Background(), "u.data", bytes.NewReader(data[:keep]), Options{Format: Ratings})
			var pe *ParseError
			if err == nil || !errors.As(err, &pe) || pe.File != "u.data" || pe.Line == 0 || !strings.Contains(err.Error(), kind) {
				t.Errorf("%s cut to %d of %d bytes: error %v", kind, keep, len(data), err)
			}
		}
		broken := bytes.Clone(data)
		broken[len(broken)/2+100] ^= 0x55
		_, err := ReadFrom[float32](context.Background(), "u.data", bytes.NewReader(broken), Options{})
		if err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s damaged: error %v", kind, err)
		}
	}
}

func TestReaderFailure(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, text := range []string{"", tsvText, mtxText, smtxText[:20]} {
		r := iotest.TimeoutReader(strings.NewReader(text)) // fails on the second read
		_, err := ReadFrom[float32](context.Background(), "f", r, Options{})
		if text != "" && !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("%q: error %v", text, err)
		}
		_, err = ReadFrom[float32](context.Background(), "f", iotest.ErrReader(disk), Options{})
		if !errors.Is(err, disk) || !strings.HasPrefix(err.Error(), "f") {
			t.Errorf("error %v", err)
		}
	}
}

// endless gives the same line for ever.
type endless struct{ line string }

func (e endless) Read(p []byte) (int, error) {
	n := copy(p, e.line)
	for n < len(p)-len(e.line) {
		n += copy(p[n:len(p)-len(p)%len(e.line)], p[:n])
	}
	return n, nil
}

func TestCancel(t *testing.T) {
	for _, format := range []Format{Ratings, Edges, Adjacency} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		start := time.Now()
		_, err := ReadFrom[float32](ctx, "endless", endless{"1 2\n"}, Options{Format: format})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", format, err)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s: cancelled after %v", format, d)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	smtx := strings.NewReader("9, 9, 9\n")
	_, err := ReadFrom[float32](ctx, "endless.smtx", &chain{smtx, endless{" \n"}}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("smtx: error %v", err)
	}
}

// chain reads a and then b.
type chain struct {
	a *strings.Reader
	b endless
}

func (c *chain) Read(p []byte) (int, error) {
	if c.a.Len() > 0 {
		return c.a.Read(p)
	}
	return c.b.Read(p)
}

// A pipe whose writer says nothing must not keep a cancelled reader.
func TestCancelWhileReadWaits(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	path := fmt.Sprintf("/proc/self/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /proc/self/fd to name a pipe by")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Read[float32](ctx, path, Options{})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("still reading 5 s after the deadline")
	}
}

func TestThreadsDoNotMatter(t *testing.T) {
	text := string(ratingsText(8000, ",", "userId,movieId,rating,timestamp\n", true)) + string(namesText(3)[len("user,title,rating\n"):])
	text = strings.ReplaceAll(text, "\"The film, part ", "\"A film, ") // two kinds of names in one file
	text = strings.TrimSuffix(text, "\n")
	lines := strings.Split(text, "\n")
	for i := len(lines) - 3; i < len(lines); i++ {
		lines[i] += ",7" // the time that the others have
	}
	text = strings.Join(lines, "\n")
	want, err := readString[float64]("r.csv", text, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, want)
	for _, threads := range []int{2, 3, 8} {
		for _, block := range []int{100, 5000, 1 << 20} {
			got, err := readString[float64]("r.csv", text, Options{Threads: threads, block: block})
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameSet(got, want); diff != "" {
				t.Fatalf("%d threads, blocks of %d: %.200s", threads, block, diff)
			}
		}
	}
}
