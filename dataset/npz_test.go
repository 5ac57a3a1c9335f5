package dataset

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sddmmkit/internal/npz"
	"sddmmkit/sparse"
)

// npzArrays is an archive as save_npz writes it; tests change it.
type npzArrays map[string]struct {
	shape []int
	data  any
}

func (a npzArrays) with(name string, shape []int, data any) npzArrays {
	out := npzArrays{}
	for k, v := range a {
		out[k] = v
	}
	if data == nil {
		delete(out, name)
	} else {
		out[name] = struct {
			shape []int
			data  any
		}{shape, data}
	}
	return out
}

func (a npzArrays) bytes(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := npz.NewWriter(&b)
	w.Compress = len(a)%2 == 0
	for _, name := range []string{"indices", "indptr", "row", "col", "format", "shape", "data", "row_names", "col_names", "time"} {
		if v, ok := a[name]; ok {
			if err := w.Write(name, v.shape, v.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The matrix
//
//	0 1 2 0
//	0 0 0 0
//	3 0 0 4
func csrArrays() npzArrays {
	return npzArrays{}.
		with("indices", []int{4}, []int32{1, 2, 3, 0}). // row 2 is unsorted
		with("indptr", []int{4}, []int32{0, 2, 2, 4}).
		with("format", nil, [][]byte{[]byte("csr")}).
		with("shape", []int{2}, []int64{3, 4}).
		with("data", []int{4}, []float64{1, 2, 4, 3})
}

func cscArrays() npzArrays {
	return csrArrays().with("format", nil, []string{"csc"}).
		with("indices", []int{4}, []int64{2, 0, 0, 2}).
		with("indptr", []int{5}, []int64{0, 1, 2, 3, 4}).
		with("data", []int{4}, []int8{3, 1, 2, 4})
}

func cooArrays() npzArrays {
	return csrArrays().with("indices", nil, nil).with("indptr", nil, nil).with("format", nil, []string{"coo"}).
		with("row", []int{4}, []uint32{2, 0, 2, 0}).
		with("col", []int{4}, []int64{0, 1, 3, 2}).
		with("data", []int{4}, []float32{3, 1, 4, 2})
}

func readNPZBytes[T sparse.Float](b []byte, opt Options) (*Set[T], error) {
	return readNPZ[T](context.Background(), "m.npz", bytes.NewReader(b), int64(len(b)), opt)
}

// dense returns the matrix in full, adding duplicates up.
func dense[T sparse.Float](c *sparse.COO[T]) [][]T {
	d := make([][]T, c.Rows)
	for i := range d {
		d[i] = make([]T, c.Cols)
	}
	for p, v := range c.Val {
		d[c.Row[p]][c.Col[p]] += v
	}
	return d
}

func TestReadNPZ(t *testing.T) {
	want := [][]float32{{0, 1, 2, 0}, {0, 0, 0, 0}, {3, 0, 0, 4}}
	for _, arrays := range []npzArrays{csrArrays(), cscArrays(), cooArrays()} {
		s, err := readNPZBytes[float32](arrays.bytes(t), Options{Rows: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.validate(); err != nil {
			t.Error(err)
		}
		if got := dense(s.COO); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%v: %v, want %v", arrays["format"].data, got, want)
		}
		if s.Rows != nil || s.Cols != nil || s.Time != nil || s.Format != NPZ || s.Name != "m.npz" {
			t.Errorf("read as %s %s with names %v, %v and times %v", s.Name, s.Format, s.Rows, s.Cols, s.Time)
		}
	}
	bools, err := readNPZBytes[float64](csrArrays().with("data", []int{4}, []bool{true, true, false, true}).bytes(t), Options{})
	if err != nil || !slices.Equal(bools.COO.Val, []float64{1, 1, 0, 1}) {
		t.Errorf("bool values %v, error %v", bools, err)
	}
}

func TestReadNPZNames(t *testing.T) {
	arrays := cooArrays().with("row_names", []int{3}, []string{"7", "ada", "é"}).with("col_names", []int{4}, []string{"w", "x", "y", "z"}).
		with("time", []int{4}, []int64{5, 6, 7, 8})
	s, err := readNPZBytes[float32](arrays.bytes(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Rows.Name(2) != "é" || s.Cols.Name(3) != "z" || !slices.Equal(s.Time, []int64{5, 6, 7, 8}) {
		t.Errorf("names %v, %v, times %v", s.Rows.Names(), s.Cols.Names(), s.Time)
	}
	base := NewIDs([]string{"ada", "bob", "é"})
	s, err = readNPZBytes[float32](arrays.bytes(t), Options{RowIDs: base})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Rows.Names(); !slices.Equal(got, []string{"ada", "bob", "é", "7"}) || s.COO.Rows != 4 || !slices.Equal(s.COO.Row, []int32{2, 3, 2, 3}) {
		t.Errorf("continued map %v, rows %v of %d", got, s.COO.Row, s.COO.Rows)
	}
	if base.Len() != 3 {
		t.Error("the map that was passed in changed")
	}
	if _, err := readNPZBytes[float32](cooArrays().bytes(t), Options{ColIDs: base}); err == nil {
		t.Error("an id map was continued by a file without names")
	}
}

func TestReadNPZBad(t *testing.T) {
	inf := []float64{1, 2, math.Inf(-1), 3}
	for _, c := range []struct {
		name, want string
		in         []byte
		opt        Options
	}{
		{"not an archive", "archive", []byte("PK\x03\x04 nonsense"), Options{}},
		{"other arrays", "save_npz", npzArrays{}.with("data", []int{1}, []float32{1}).bytes(t), Options{}},
		{"bsr", "tocsr", csrArrays().with("format", nil, []string{"bsr"}).bytes(t), Options{}},
		{"format is a number", "strings", csrArrays().with("format", nil, []int32{1}).bytes(t), Options{}},
		{"no data", `"data"`, csrArrays().with("data", nil, nil).bytes(t), Options{}},
		{"no indptr", `"indptr"`, csrArrays().with("indptr", nil, nil).bytes(t), Options{}},
		{"shape of three", "two sizes", csrArrays().with("shape", []int{3}, []int64{3, 4, 5}).bytes(t), Options{}},
		{"negative shape", "two sizes", csrArrays().with("shape", []int{2}, []int64{3, -4}).bytes(t), Options{}},
		{"huge shape", "two sizes", csrArrays().with("shape", []int{2}, []int64{3, 1 << 40}).bytes(t), Options{}},
		{"shape of floats", "integers", csrArrays().with("shape", []int{2}, []float64{3, 4}).bytes(t), Options{}},
		{"declared rows", "declared", csrArrays().bytes(t), Options{Rows: 4}},
		{"declared columns", "declared", csrArrays().bytes(t), Options{Cols: 3}},
		{"few pointers", "want 4", csrArrays().with("indptr", []int{3}, []int32{0, 2, 4}).bytes(t), Options{}},
		{"pointer 0", "pointer 0", csrArrays().with("indptr", []int{4}, []int32{1, 2, 2, 4}).bytes(t), Options{}},
		{"pointers fall", "pointer 2", csrArrays().with("indptr", []int{4}, []int32{0, 3, 2, 4}).bytes(t), Options{}},
		{"last pointer", "last pointer", csrArrays().with("indptr", []int{4}, []int32{0, 2, 2, 5}).bytes(t), Options{}},
		{"column out of range", "index 4 at position 2", csrArrays().with("indices", []int{4}, []int32{1, 2, 4, 0}).bytes(t), Options{}},
		{"negative column", "index -1", csrArrays().with("indices", []int{4}, []int32{1, 2, -1, 0}).bytes(t), Options{}},
		{"column beyond int32", "does not fit", csrArrays().with("indices", []int{4}, []int64{1, 2, 1 << 33, 0}).bytes(t), Options{}},
		{"row out of range", "index 3", cooArrays().with("row", []int{4}, []int32{2, 0, 3, 0}).bytes(t), Options{}},
		{"few values", "3 values", csrArrays().with("data", []int{3}, []float32{1, 2, 3}).bytes(t), Options{}},
		{"lengths differ", "as many of each", cooArrays().with("row", []int{3}, []int32{2, 0, 0}).bytes(t), Options{}},
		{"dense data", "2 axes", csrArrays().with("data", []int{2, 2}, []float32{1, 2, 3, 4}).bytes(t), Options{}},
		{"infinite value", "value -Inf in row 2, column 3", csrArrays().with("data", []int{4}, inf).bytes(t), Options{}},
		{"too large for float32", "finite float32", csrArrays().with("data", []int{4}, []float64{1, 1e300, 2, 3}).bytes(t), Options{}},
		{"names repeat", "twice", cooArrays().with("row_names", []int{3}, []string{"a", "b", "a"}).bytes(t), Options{}},
		{"few names", "want 4", cooArrays().with("col_names", []int{3}, []string{"a", "b", "c"}).bytes(t), Options{}},
		{"few times", "times", cooArrays().with("time", []int{3}, []int64{1, 2, 3}).bytes(t), Options{}},
	} {
		s, err := readNPZBytes[float32](c.in, c.opt)
		var pe *ParseError
		if !errors.As(err, &pe) || s != nil || !strings.HasPrefix(err.Error(), "m.npz: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that begins with the file's name and says %q", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := csrArrays().bytes(t)
	if _, err := readNPZ[float32](ctx, "m.npz", bytes.NewReader(b), int64(len(b)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// A shape of two thousand million rows costs nothing where the file has four entries.
func TestReadNPZMemory(t *testing.T) {
	b := cooArrays().with("shape", []int{2}, []int64{math.MaxInt32, math.MaxInt32}).bytes(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := readNPZBytes[float64](b, Options{})
	runtime.ReadMemStats(&after)
	if err != nil || s.COO.Rows != math.MaxInt32 {
		t.Fatalf("%v, error %v", s, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes allocated for four entries", used)
	}
}

// Mutated archives fail at their checksums, which internal/npz fuzzes; here the arrays themselves
// vary, one byte an element.
func FuzzNPZ(f *testing.F) {
	f.Add(uint8(0), int8(3), int8(4), []byte{0, 2, 2, 4}, []byte{1, 2, 3, 0}, []byte{1, 2, 4, 3}, "")
	f.Add(uint8(1), int8(3), int8(4), []byte{0, 1, 2, 3, 4}, []byte{2, 0, 0, 2}, []byte{3, 1, 2, 4}, "a,b,c")
	f.Add(uint8(2), int8(3), int8(4), []byte{2, 0, 2, 0}, []byte{0, 1, 3, 2}, []byte{3, 1, 4, 2}, "a,b,a")
	f.Add(uint8(3), int8(-3), int8(4), []byte{}, []byte{}, []byte{}, "")
	f.Fuzz(func(t *testing.T, layout uint8, rows, cols int8, ptr, idx, val []byte, names string) {
		ints := func(b []byte) []int8 {
			v := make([]int8, len(b))
			for i, c := range b {
				v[i] = int8(c)
			}
			return v
		}
		arrays := npzArrays{}.
			with("format", nil, []string{[]string{"csr", "csc", "coo", "dia"}[layout%4]}).
			with("shape", []int{2}, []int8{rows, cols}).
			with("indptr", []int{len(ptr)}, ints(ptr)).
			with("row", []int{len(ptr)}, ints(ptr)).
			with("indices", []int{len(idx)}, ints(idx)).
			with("col", []int{len(idx)}, ints(idx)).
			with("data", []int{len(val)}, ints(val))
		if names != "" && !strings.Contains(names, "\x00") {
			split := strings.Split(names, ",")
			arrays = arrays.with("row_names", []int{len(split)}, split)
		}
		s, err := readNPZBytes[float32](arrays.bytes(t), Options{})
		checkOutcome(t, s, err)
	})
}

// checkOutcome checks that a reader returned a set that is whole, or an error.
func checkOutcome(t *testing.T, s *Set[float32], err error) {
	t.Helper()
	if (s == nil) == (err == nil) {
		t.Fatalf("set %v and error %v", s, err)
	}
	if err == nil {
		checkSet(t, s)
	}
}
