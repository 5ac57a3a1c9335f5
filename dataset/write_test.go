package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

// awkward returns a set with values that are hard to write exactly, duplicates, entries in no
// order, times and names as given.
func awkward[T sparse.Float](rows, cols *IDs) *Set[T] {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &sparse.COO[T]{Rows: rows.Len(), Cols: cols.Len()}
	s := &Set[T]{Name: "awkward", Format: Ratings, COO: c, Rows: rows, Cols: cols}
	values := []float64{0, math.Copysign(0, -1), 1.0 / 3, -1e-30, 3.4e38, 16777217, 0.1, 5, math.SmallestNonzeroFloat32}
	for p := range 5000 {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(60)-30))
		if p < len(values) {
			v = values[p]
		}
		if i := p % rows.Len(); p < rows.Len() { // every name appears, in order
			c.Row = append(c.Row, int32(i))
		} else {
			c.Row = append(c.Row, rng.Int32N(int32(rows.Len())))
		}
		if j := p % cols.Len(); p < cols.Len() {
			c.Col = append(c.Col, int32(j))
		} else {
			c.Col = append(c.Col, rng.Int32N(int32(cols.Len())))
		}
		c.Val = append(c.Val, T(v))
		s.Time = append(s.Time, rng.Int64())
	}
	return s
}

func numberNames(n int) *IDs {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(1000 - i)
	}
	return NewIDs(names)
}

// What WriteFile writes, Read reads: the same entries in the same order, bit for bit.
func TestWriteFileRoundTrip(t *testing.T) {
	t.Run("float32", testWriteFileRoundTrip[float32])
	t.Run("float64", testWriteFileRoundTrip[float64])
}

func testWriteFileRoundTrip[T sparse.Float](t *testing.T) {
	words := NewIDs([]string{"a", "Amélie, le film", `the "quoted"`, "日本", "# no comment", "-7", "007", " blank around ", "x;y|z::w"})
	plain := NewIDs([]string{"ann", "bob", "c d", "日本", "007"})
	dir := t.TempDir()
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.mtx.zst", "a.csv", "a.CSV.gz", "a.tsv", "a.tsv.zst", "a.npz", "a.parquet"} {
		for kind, names := range map[string]*IDs{"words": words, "plain": plain, "numbers": numberNames(40)} {
			if strings.Contains(name, ".tsv") && kind == "words" {
				continue // refused below
			}
			s := awkward[T](names, numberNames(30))
			path := filepath.Join(dir, name)
			if err := WriteFile(path, s); err != nil {
				t.Fatal(err)
			}
			got, err := Read[T](context.Background(), path, Options{})
			if err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
				continue
			}
			checkSet(t, got)
			if !sameCOO(got.COO, s.COO) {
				t.Errorf("%s, %s: the entries differ", name, kind)
			}
			if strings.Contains(name, ".mtx") {
				continue // which keeps neither names nor times
			}
			if !slices.Equal(got.Rows.Names(), s.Rows.Names()) || !slices.Equal(got.Cols.Names(), s.Cols.Names()) {
				t.Errorf("%s, %s: names %q", name, kind, got.Rows.Names())
			}
			if !slices.Equal(got.Time, s.Time) {
				t.Errorf("%s, %s: the times differ", name, kind)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Without names a table holds 0-based indices, which Read takes for names.
func TestWriteFileWithoutNames(t *testing.T) {
	s := generate[float32](t, "uniform:20x30:100", 1)
	for _, name := range []string{"a.csv", "a.tsv", "a.parquet", "a.npz", "a.mtx"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteFile(path, s); err != nil {
			t.Fatal(err)
		}
		got, err := Read[float32](context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for p, v := range got.COO.Val {
			row, col := fmt.Sprint(got.COO.Row[p]), fmt.Sprint(got.COO.Col[p])
			if got.Rows != nil {
				row, col = got.Rows.Name(int(got.COO.Row[p])), got.Cols.Name(int(got.COO.Col[p]))
			}
			if row != fmt.Sprint(s.COO.Row[p]) || col != fmt.Sprint(s.COO.Col[p]) || v != s.COO.Val[p] {
				t.Fatalf("%s: entry %d is (%s, %s) %v, want (%d, %d) %v", name, p, row, col, v, s.COO.Row[p], s.COO.Col[p], s.COO.Val[p])
			}
		}
		if got.Time != nil {
			t.Errorf("%s: times appeared", name)
		}
	}
}

func TestWriteMatrixForms(t *testing.T) {
	m, err := sparse.FromCOO(generate[float64](t, "zipf:300x200:4000:1", 1).COO, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"m.mtx": func(b *bytes.Buffer) error { return WriteMatrixMarket(b, m) },
		"m.npz": func(b *bytes.Buffer) error { return WriteNPZ(b, m) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFrom[float64](context.Background(), name, &b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !sameCOO(got.COO, m.ToCOO()) {
			t.Errorf("%s: the matrix that came back differs", name)
		}
	}
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	good := awkward[float32](numberNames(3), numberNames(3))
	with := func(change func(s *Set[float32])) *Set[float32] {
		s := *good
		change(&s)
		return &s
	}
	for _, c := range []struct {
		name string
		set  *Set[float32]
		want string
	}{
		{"a.xlsx", good, "cannot tell the format"},
		{"a", good, "cannot tell the format"},
		{"a.npz.gz", good, "cannot tell the format"},
		{"a.csv", with(func(s *Set[float32]) { s.Rows = NewIDs([]string{"a", "b\nc", "d"}) }), "breaks the line"},
		{"a.tsv", with(func(s *Set[float32]) { s.Cols = NewIDs([]string{"a", "b\tc", "d"}) }), "write .csv"},
		{"a.npz", with(func(s *Set[float32]) { s.Cols = NewIDs([]string{"a", "b\x00", "d"}) }), "NUL"},
		{"a.csv", with(func(s *Set[float32]) { s.Rows = numberNames(2) }), "id maps"},
		{"a.parquet", with(func(s *Set[float32]) { s.Time = s.Time[1:] }), "times"},
		{"a.mtx", with(func(s *Set[float32]) {
			s.COO = &sparse.COO[float32]{Rows: 1, Cols: 1, Row: []int32{1}, Col: []int32{0}, Val: []float32{1}}
		}), "row"},
		{filepath.Join("no", "such", "folder", "a.csv"), good, "no such"},
	} {
		path := filepath.Join(dir, c.name)
		err := WriteFile(path, c.set)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names the file and says %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Fatalf("%s: %v was left behind", c.name, left)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	s := generate[float32](b, "zipf:20000x10000:1M:1", 0)
	for _, name := range []string{"a.mtx", "a.csv", "a.npz", "a.parquet"} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), name)
			for b.Loop() {
				if err := WriteFile(path, s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "Mnnz/s")
		})
	}
}
