package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// TestBadInput reads what is wrong, one way at a time, and compares the whole error.
func TestBadInput(t *testing.T) {
	const banner = "%%MatrixMarket matrix coordinate real general\n"
	tests := []struct {
		name, file, text string
		opt              Options
		want             string
	}{
		{name: "empty", text: "", want: `x: got an empty file, want a matrix`},
		{name: "blank", text: " \n\n\t\n", want: `x: got no line with data, want a matrix`},
		{name: "comments only", text: "# a\n# b\n", want: `x: got no line with data, want a matrix`},
		{name: "prose", text: "Summary\n=======\n\nThis file, as found, says little.\n", want: `x:1: got "Summary", want a line of a known format (mtx, ratings, edges, docword, svmlight, ldac, adjacency, smtx, npz, parquet); name the format if it is one of them`},
		{name: "one number a line", text: "1\n2\n3\n4\n5\n", want: `x:1: got "1", want a line of a known format (mtx, ratings, edges, docword, svmlight, ldac, adjacency, smtx, npz, parquet); name the format if it is one of them`},
		{name: "NUL", text: "1\t2\t3\n1\t\x00\t3\n", want: `x:2: got binary data (byte 0x00), want text`},
		{name: "UTF-16", text: "\xff\xfe1\x00\t\x00", want: `x:1: got UTF-16 text, want ASCII or UTF-8: convert it first`},
		{name: "bzip2", text: "BZh91AY&SY", want: `x: got bzip2 data, want gzip, zstd or no compression: unpack it first`},
		{name: "xz", text: "\xfd7zXZ\x00\x00", want: `x: got xz data, want gzip, zstd or no compression: unpack it first`},
		{name: "an unknown format", text: "1 2\n", opt: Options{Format: "csv"}, want: `x: no reader for format "csv"; formats of files are mtx, ratings, edges, docword, svmlight, ldac, adjacency, smtx, npz, parquet`},
		{name: "npz by name", file: "a.npz", text: "1 2\n", want: `a.npz: got text, want npz data, as the name says; name the format if it is another`},
		{name: "negative shape", text: "1 2\n", opt: Options{Rows: -1}, want: `x: declared shape -1×0: want positive numbers, or 0 for none`},
		{name: "id maps for indices", text: mtxText, opt: Options{RowIDs: NewIDs(nil)}, want: `x: got format mtx, whose numbers are indices, want a format with names, to continue an id map; name it as format ratings if that is what it is`},

		{name: "no banner", file: "a.mtx", text: "3 3 1\n1 1 1\n", want: `a.mtx:1: got "3 3 1", want a banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY"`},
		{name: "array", text: "%%MatrixMarket matrix array real general\n1 1\n1\n", want: `x:1: got layout "array", want coordinate: only sparse matrices are read`},
		{name: "complex", text: "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", want: `x:1: got field "complex", want real, integer or pattern`},
		{name: "hermitian", text: "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n", want: `x:1: got symmetry "hermitian", want general, symmetric or skew-symmetric`},
		{name: "no sizes", text: banner + "% nothing\n", want: `x:2: got the end of the file, want a line "rows columns entries"`},
		{name: "bad sizes", text: banner + "3 x 1\n", want: `x:2: got "3 x 1", want "rows columns entries", three whole numbers`},
		{name: "huge shape", text: banner + "1000000000000000000 3 1\n1 1 1\n", want: `x:2: got a matrix of 1000000000000000000×3, want at most 2147483647 rows and columns`},
		{name: "another shape than declared", text: banner + "3 3 1\n1 1 1\n", opt: Options{Cols: 4}, want: `x:2: got a matrix of 3×3, want the declared shape any×4`},
		{name: "symmetric and not square", text: "%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n", want: `x:2: got a symmetric matrix of 3×4, want a square one`},
		{name: "too few entries", text: banner + "3 3 1000000000000000000\n1 1 1\n", want: `x:2: got 1 entries up to the end of the file, want the 1000000000000000000 that this line promises`},
		{name: "too many entries", text: banner + "3 3 1\n% a\n1 1 1\n\n2 2 2\n3 3 x\n", want: `x:6: got one entry more, want only the 1 that line 2 promises`},
		{name: "row 0", text: banner + "3 3 1\n0 1 1\n", want: `x:3: got row "0", want a whole number from 1 to 3`},
		{name: "column too large", text: banner + "3 3 1\n1 4 1\n", want: `x:3: got column "4", want a whole number from 1 to 3`},
		{name: "row too large for 64 bits", text: banner + "3 3 1\n99999999999999999999999 4 1\n", want: `x:3: got row "99999999999999999999999", want a whole number from 1 to 3`},
		{name: "negative row", text: banner + "3 3 1\n-1 1 1\n", want: `x:3: got row "-1", want a whole number from 1 to 3`},
		{name: "fractional row", text: banner + "3 3 1\n1.5 1 1\n", want: `x:3: got row "1.5", want a whole number from 1 to 3`},
		{name: "row in a matrix of none", text: banner + "0 3 1\n1 1 1\n", want: `x:3: got row "1", want no entries in an empty matrix`},
		{name: "missing value", text: banner + "3 3 1\n1 1\n", want: `x:3: got 2 fields in "1 1", want 3 (row column value)`},
		{name: "value too many", text: "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", want: `x:3: got 3 fields in "1 1 1", want 2 (row column)`},
		{name: "one field", text: banner + "3 3 1\n1\n", want: `x:3: got 1 fields in "1", want 3 (row column value)`},
		{name: "NaN", text: banner + "3 3 1\n1 1 NaN\n", want: `x:3: got value "NaN", want a finite number`},
		{name: "Inf", text: banner + "3 3 1\n1 1 -Inf\n", want: `x:3: got value "-Inf", want a finite number`},
		{name: "beyond the type", text: banner + "3 3 1\n1 1 1e39\n", want: `x:3: got value "1e39", want a finite number`},
		{name: "word for a value", text: banner + "3 3 1\n1 1 one\n", want: `x:3: got value "one", want a finite number`},
		{name: "fraction for an integer", text: "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", want: `x:3: got value "1.5", want a whole number`},
		{name: "skew diagonal", text: "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", want: `x:3: got the diagonal entry (2, 2), want none in a skew-symmetric matrix`},
		{name: "skew pattern", text: "%%MatrixMarket matrix coordinate pattern skew-symmetric\n3 3 1\n2 1\n", want: `x:1: got a skew-symmetric pattern, want values, for a pattern has no signs`},
		{name: "NUL where detection does not look", file: "a.mtx", text: banner + "3 3 1\n" + strings.Repeat("% comment comment comment\n", 4000) + "1 1 \x00\n", want: `a.mtx:4003: got value "\x00", want a finite number`},

		{name: "word for a rating", text: "1\t2\t3\n1\t3\tgood\n", want: `x:2: got rating "good", want a finite number`},
		{name: "word in the only line", text: "1,2,five\n", want: `x:1: got rating "five", want a finite number`},
		{name: "NaN rating", text: "1,2,3\n1,3,nan\n", want: `x:2: got rating "nan", want a finite number`},
		{name: "infinite rating", text: "1,2,3\n1,3,1e999\n", want: `x:2: got rating "1e999", want a finite number`},
		{name: "empty rating", text: "u,i,rating\n1,2,3\n1,3,\n", want: `x:3: got rating "", want a finite number`},
		{name: "empty user", text: "1,2,3\n,3,2\n", want: `x:2: got user "", want a name`},
		{name: "empty item", text: "1,2,3\n1,,2\n", want: `x:2: got item "", want a name`},
		{name: "a field too few", text: "1,2,3\n1,3\n", want: `x:2: got 2 fields in "1,3", want 3, as on line 1`},
		{name: "a field too many", text: "a,b,3\nThe Good, the Bad,c,3\n", want: `x:2: got 4 fields in "The Good, the Bad,c,3", want 3, as on line 1`},
		{name: "open quote", text: "a,b,3\na,\"b,3\n", want: `x:2: got a quote that does not close on its line, in "a,\"b,3", want a closing quote`},
		{name: "word for a time", text: "user,item,rating,time\na,b,3,7\na,b,3,noon\n", opt: Options{Columns: Columns{Time: "time"}}, want: `x:3: got time "noon", want seconds since 1970, or a date such as 2006-01-02`},
		{name: "header only", text: "userId,movieId,rating\n", want: `x: got no ratings, want at least one`},
		{name: "no such column", text: "userId,movieId,rating\n1,2,3\n", opt: Options{Columns: Columns{Item: "isbn"}}, want: `x:1: got columns "userId, movieId, rating", want a column "isbn"`},
		{name: "no such position", text: "1,2,3\n", opt: Options{Columns: Columns{Item: "3"}}, want: `x:1: got 3 columns without a header, want a column "3"`},
		{name: "a column twice", text: "1,2,3\n", opt: Options{Columns: Columns{Item: "0", User: "0"}}, want: `x:1: got column 0 chosen for two things, want different columns for user, item, rating and time`},
		{name: "not ratings", text: "movieId,title,genres\n1,Toy Story,Comedy\n", want: `x:1: got columns "movieId, title, genres", want columns for user and item: choose them by name or position`},
		{name: "shape for ratings", text: "1,2,3\n", opt: Options{Rows: 3}, want: `x: got a declared shape, want none for ratings: theirs is the number of names`},

		{name: "edge with a word", text: "0 1\n0 b\n", opt: Options{Format: Edges}, want: `x:2: got target node "b", want a whole number from 0 to 2147483646`},
		{name: "edge beyond int32", text: "0 1\n2147483647 0\n", want: `x:2: got source node "2147483647", want a whole number from 0 to 2147483646`},
		{name: "edge beyond the declared", text: "0 1\n1 7\n", opt: Options{Rows: 5, Cols: 5}, want: `x:2: got target node "7", want a whole number from 0 to 4`},
		{name: "edge of three", text: "0 1\n1 2 3\n", opt: Options{Format: Edges}, want: `x:2: got 3 fields in "1 2 3", want 2 (source node target node)`},
		{name: "no edges", text: "# none\n", opt: Options{Format: Edges}, want: `x: got no edges, want at least one`},

		{name: "docword cut in the header", file: "docword.x", text: "3\n5\n", want: `docword.x:2: got the end of the file, want the number of entries on a line`},
		{name: "docword with a word for a size", file: "docword.x", text: "3\nmany\n4\n", want: `docword.x:2: got "many", want the number of words`},
		{name: "docword 0", text: "3\n5\n1\n1 0 1\n", want: `x:4: got word "0", want a whole number from 1 to 5`},
		{name: "docword too few", text: "3\n5\n2\n1 1 1\n", want: `x:3: got 1 entries up to the end of the file, want the 2 that this line promises`},
		{name: "docword too many", text: "3\n5\n1\n1 1 1\n2 1 1\n", want: `x:5: got one entry more, want only the 1 that line 3 promises`},
		{name: "docword with an infinite count", text: "3\n5\n1\n1 1 inf\n", opt: Options{Format: Docword}, want: `x:4: got count "inf", want a finite number`},

		{name: "SVMlight id 0", file: "a.svm", text: "1 0:1\n", want: `a.svm:1: got id "0", want a whole number from 1 to 2147483647`},
		{name: "SVMlight id beyond the declared", file: "a.svm", text: "1 3:1\n", opt: Options{Cols: 2}, want: `a.svm:1: got id "3", want a whole number from 1 to 2`},
		{name: "SVMlight without a label", file: "a.svm", text: "1:1 2:1\n", want: `a.svm:1: got label "1:1", want a number before the pairs`},
		{name: "SVMlight with half a pair", file: "a.svm", text: "1 1:1\n1 2:\n", want: `a.svm:2: got value "" of id 2, want a finite number`},
		{name: "SVMlight with NaN", file: "a.svm", text: "1 2:nan\n", want: `a.svm:1: got value "nan" of id 2, want a finite number`},
		{name: "SVMlight with a word", file: "a.svm", text: "1 word:2\n", want: `a.svm:1: got "word:2", want id:value, the id a whole number`},
		{name: "too many rows", file: "a.svm", text: "1 1:1\n\n1 1:2\n1 1:3\n", opt: Options{Rows: 2}, want: `a.svm:4: got one row more, want at most 2`},
		{name: "LDA-C that counts wrong", file: "a.ldac", text: "1 0:1\n3 0:1 2:1\n", want: `a.ldac:2: got 2 pairs, want the 3 that the line promises`},
		{name: "LDA-C without a count", file: "a.ldac", text: "x 0:1\n", want: `a.ldac:1: got "x", want the number of pairs on the line`},
		{name: "LDA-C beyond int32", file: "a.ldac", text: "1 2147483647:1\n", want: `a.ldac:1: got id "2147483647", want a whole number from 0 to 2147483646`},

		{name: "adjacency with a word", text: "0 1\n1 2 x\n", opt: Options{Format: Adjacency}, want: `x:2: got column "x", want a whole number from 0 to 2147483646`},
		{name: "adjacency beyond the declared", text: "0 1\n1 2 3\n", opt: Options{Rows: 1}, want: `x:2: got row "1", want a whole number from 0 to 0`},
		{name: "adjacency beyond int32", text: "0 1\n1 2 99999999999\n", want: `x:2: got column "99999999999", want a whole number from 0 to 2147483646`},

		{name: "SMTX without a header", file: "a.smtx", text: "0 1 2\n", want: `a.smtx:1: got "0 1 2", want "rows, columns, entries", three whole numbers`},
		{name: "SMTX of a huge shape", file: "a.smtx", text: "1000000000000000000, 1, 1\n0\n", want: `a.smtx:1: got a matrix of 1000000000000000000×1, want at most 2147483647 rows and columns`},
		{name: "SMTX cut in the offsets", file: "a.smtx", text: "2000000000, 1, 1\n0 1 1\n", want: `a.smtx:3: got the end of the file after 3 row offsets, want the 2000000001 of 2000000000 rows`},
		{name: "SMTX cut in the columns", file: "a.smtx", text: "2, 2, 1000000000000\n0 1 1000000000000\n0 1", want: `a.smtx:3: got the end of the file after 2 columns, want the 1000000000000 that line 1 promises`},
		{name: "SMTX that starts at 1", file: "a.smtx", text: "2, 2, 2\n1 1 2\n0 1\n", want: `a.smtx:2: got row offset 1, want 0 to begin with`},
		{name: "SMTX with falling offsets", file: "a.smtx", text: "3, 2, 2\n0 2 1 2\n0 1\n", want: `a.smtx:2: got row offset 1, want one from 2 to 2: offsets do not decrease`},
		{name: "SMTX with another sum", file: "a.smtx", text: "2, 2, 3\n0 1 2\n0 1\n", want: `a.smtx:2: got last row offset 2, want the 3 entries that line 1 promises`},
		{name: "SMTX column", file: "a.smtx", text: "2, 2, 2\n0 1 2\n0 2\n", want: `a.smtx:3: got column 2, want a whole number from 0 to 1`},
		{name: "SMTX with more", file: "a.smtx", text: "2, 2, 2\n0 1 2\n0 1 0\n", want: `a.smtx:3: got one number more (0), want the end of the file after 2 columns`},
		{name: "SMTX with a word", file: "a.smtx", text: "2, 2, 2\n0 1 2\n0 one\n", want: `a.smtx:3: got "one", want a whole number`},
		{name: "SMTX of digits", file: "a.smtx", text: "2, 2, 2\n" + strings.Repeat("7", 1000), want: `a.smtx:2: got "777777777777777777777777777777777777777777777777"…, want a whole number`},

		{name: "long line", text: "1 2\n" + strings.Repeat("3 ", 100) + "\n", opt: Options{MaxLine: 64}, want: `x:2: got a line longer than 64 bytes, want shorter lines, or a larger MaxLine`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file
			if file == "" {
				file = "x"
			}
			s, err := readString[float32](file, tt.text, tt.opt)
			if err == nil {
				t.Fatalf("read as %s, %v; want error %s", s.Format, entriesOf(s), tt.want)
			}
			if err.Error() != tt.want {
				t.Errorf("error %s\n want %s", err, tt.want)
			}
			var pe *ParseError
			if errors.As(err, &pe) {
				checkRead(t, file, []byte(tt.text), tt.opt)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Read[float32](context.Background(), dir, Options{})
	if err == nil || err.Error() != dir+": got a directory, want a file" {
		t.Errorf("directory: error %v", err)
	}
	missing := filepath.Join(dir, "missing.csv")
	_, err = Read[float32](context.Background(), missing, Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing file: error %v", err)
	}
}

// allocated returns the bytes that f allocates, freed or not: no bound on it can be met by luck.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What a header promises must not be allocated.
func TestMemoryBoundedByInput(t *testing.T) {
	zstdFrame := func(log byte) []byte { // a frame that holds "1 2" and asks for a window of 1<<log bytes
		return append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, (log - 10) << 3}, 0x19, 0x00, 0x00, '1', ' ', '2')
	}
	for name, text := range map[string]string{
		"entries.mtx":  "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1000000000\n1 1 1\n",
		"docword.lies": "2000000000\n2000000000\n1000000000000000000\n1 1 1\n",
		"rows.smtx":    "2000000000, 2000000000, 1000000000\n0 1 1\n",
		"columns.smtx": "1, 2000000000, 1000000000000\n0 1000000000000\n5 6 7\n",
		"a.ldac":       "1000000000 1:1\n",
		"window.zst":   string(zstdFrame(27)),
		"window2.zst":  string(zstdFrame(31)),
	} {
		var err error
		got := allocated(func() { _, err = readString[float32](name, text, Options{}) })
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		limit := uint64(4 << 20)
		if strings.HasSuffix(name, ".zst") {
			limit = 2 * minWindow
		}
		if got > limit {
			t.Errorf("%s: %d bytes allocated for a file of %d bytes", name, got, len(text))
		}
	}
	if _, err := readString[float32]("window.zst", string(zstdFrame(23)), Options{}); err != nil {
		t.Errorf("a window that every reader must grant: %v", err)
	}
	// A legitimate matrix of many rows costs what its entries cost.
	text := "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n2000000000 1 1\n"
	got := allocated(func() {
		if _, err := readString[float32]("a.mtx", text, Options{}); err != nil {
			t.Error(err)
		}
	})
	if got > 4<<20 {
		t.Errorf("many rows, one entry: %d bytes allocated", got)
	}
}

// gzipped returns a reader of what r holds, compressed.
func gzipped(t *testing.T, r io.Reader) io.Reader {
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &gz
}

// Lines of 50 MB, also in a few compressed kilobytes, are one error, soon, in the memory of the
// longest line allowed.
func TestLongLines(t *testing.T) {
	const size = 50 << 20
	for name, c := range map[string]struct {
		unit   string
		format Format
		line   string
	}{
		"letters":  {"a", "", ":1: "},
		"numbers":  {"17 ", Adjacency, ":1: "},
		"pairs":    {" 3:1", SVMlight, ":1: "},
		"fields":   {"a,", Ratings, ":1: "},
		"digits":   {"7", SMTX, ":1: "},
		"comment":  {"%", MatrixMarket, ":1: "},
		"a quote":  {"\"\"", Ratings, ":1: "},
		"no line":  {"1", Docword, ":1: "},
		"one node": {"0", Edges, ":1: "},
	} {
		var r io.Reader = io.LimitReader(endless{c.unit}, size)
		if name == "letters" {
			r = gzipped(t, r)
		}
		start := time.Now()
		var err error
		got := allocated(func() { _, err = ReadFrom[float32](context.Background(), "long", r, Options{Format: c.format}) })
		if err == nil || !strings.Contains(err.Error(), c.line) || len(err.Error()) > 300 {
			t.Errorf("%s: error %.400v", name, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: error after %v", name, d)
		}
		if got > 6*defaultMaxLine {
			t.Errorf("%s: %d MiB allocated", name, got>>20)
		}
	}
}

// Noise of every kind is an error and never a set.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100000)
	for i := 0; i+8 <= len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], r.Uint64())
	}
	noise[0] = 'x'
	zw, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"noise": noise, "noise in zstd": zw.EncodeAll(noise, nil),
		"noise behind gzip's magic": append([]byte{0x1f, 0x8b}, noise...),
		"noise behind zstd's magic": append([]byte{0x28, 0xb5, 0x2f, 0xfd}, noise...),
		"noise behind a banner":     append([]byte("%%MatrixMarket matrix coordinate real general\n9 9 9\n"), noise...),
	} {
		for _, format := range []Format{Auto, MatrixMarket, Ratings, Edges, Docword, SVMlight, LDAC, Adjacency, SMTX} {
			s, err := ReadFrom[float32](context.Background(), "noise.dat", bytes.NewReader(data), Options{Format: format})
			var pe *ParseError
			if err == nil || !errors.As(err, &pe) || pe.File != "noise.dat" {
				t.Errorf("%s as %s: %v, error %v", name, format, s, err)
			}
		}
	}
}
