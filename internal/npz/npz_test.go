package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
)

type array struct {
	name  string
	shape []int
	data  any
}

func archive(t testing.TB, compress bool, arrays ...array) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Compress = compress
	for _, a := range arrays {
		if err := w.Write(a.name, a.shape, a.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)), "x.npz")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// member returns an archive whose only member holds the bytes as they are.
func member(t testing.TB, name string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyBytes is an .npy file: version, header text, elements.
func npyBytes(major byte, text string, body ...byte) []byte {
	b := append(npy.Magic[:], major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(append(b, text...), body...)
}

func get[T any](t *testing.T, f *File, name string, read func(*Array) ([]T, error)) []T {
	t.Helper()
	a, err := f.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := read(a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRoundTrip(t *testing.T) {
	long := make([]int32, 300_000) // several flushes and chunks
	for i := range long {
		long[i] = int32(i*i - 7)
	}
	f64 := []float64{0, math.Copysign(0, -1), 1.0 / 3, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64}
	f32 := []float32{0, 1.0 / 3, float32(math.Inf(-1)), math.SmallestNonzeroFloat32, math.MaxFloat32, -2}
	names := []string{"", "Amélie (2001)", "日本語", "\xe9t\xe9", "a\x00b", "\xed\xb2\x80", "𝄞"}
	for _, compress := range []bool{false, true} {
		b := archive(t, compress,
			array{"f64", []int{2, 3}, f64}, array{"f32", []int{3, 2}, f32}, array{"long", []int{len(long)}, long},
			array{"i64", []int{2}, []int64{math.MinInt64, math.MaxInt64}}, array{"scalar", nil, []int64{42}},
			array{"none", []int{0, 7}, []float32{}}, array{"names", []int{len(names)}, names},
			array{"format", nil, [][]byte{[]byte("csr")}}, array{"ok", []int{2}, []bool{false, true}},
			array{"i8", []int{2}, []int8{-128, 127}}, array{"u8", []int{2}, []uint8{0, 255}},
			array{"i16", []int{2}, []int16{-32768, 32767}}, array{"u16", []int{1}, []uint16{65535}},
			array{"u32", []int{1}, []uint32{math.MaxUint32}}, array{"u64", []int{1}, []uint64{math.MaxUint64}})
		f := open(t, b)
		check := func(name string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("compress %v: %s = %v, want %v", compress, name, got, want)
			}
		}
		check("f64", get(t, f, "f64", Floats[float64]), f64)
		if math.Signbit(get(t, f, "f64", Floats[float64])[1]) != true {
			t.Error("the sign of -0 was lost")
		}
		check("f32", get(t, f, "f32", Floats[float32]), f32)
		check("f32 as float64", get(t, f, "f32", Floats[float64])[1], float64(f32[1]))
		check("long", get(t, f, "long", Ints[int32]), long)
		check("i64", get(t, f, "i64", Ints[int64]), []int64{math.MinInt64, math.MaxInt64})
		check("scalar", get(t, f, "scalar", Ints[int32]), []int32{42})
		check("none", get(t, f, "none", Floats[float32]), []float32{})
		check("names", get(t, f, "names", Strings), names)
		check("format", get(t, f, "format", Strings), []string{"csr"})
		check("ok", get(t, f, "ok", Floats[float64]), []float64{0, 1})
		check("i8", get(t, f, "i8", Ints[int64]), []int64{-128, 127})
		check("u8", get(t, f, "u8", Ints[int32]), []int32{0, 255})
		check("i16", get(t, f, "i16", Floats[float64]), []float64{-32768, 32767})
		check("u16", get(t, f, "u16", Ints[int32]), []int32{65535})
		check("u32", get(t, f, "u32", Ints[int64]), []int64{math.MaxUint32})
		check("u64", get(t, f, "u64", Floats[float64]), []float64{math.MaxUint64})
		for _, name := range []string{"u64", "i64"} {
			a, _ := f.Array(name)
			if v, err := Ints[int32](a); err == nil {
				t.Errorf("%s as int32 = %v, want an error", name, v)
			}
		}
		a, _ := f.Array("f64")
		check("shape", a.Shape, []int{2, 3})
		check("type", a.Type(), "float64")
		check("len", a.Len(), 6)
	}
}

func TestBytesDependOnTheArraysOnly(t *testing.T) {
	in := []array{{"a", []int{3}, []float32{1, 2, 3}}, {"b", []int{1}, []string{"x"}}}
	for _, compress := range []bool{false, true} {
		if !bytes.Equal(archive(t, compress, in...), archive(t, compress, in...)) {
			t.Errorf("compress %v: the same arrays gave different bytes", compress)
		}
	}
}

// npyio reads what this package writes: an implementation that shares no code with the writer.
func TestWrittenArraysAgainstNpyio(t *testing.T) {
	want := []float64{1, 2.5, -3, 4, 5, 1e300}
	ints := []int32{1, -2, 3} // its reader garbles unicode strings, so numbers only
	b := archive(t, true, array{"m", []int{2, 3}, want}, array{"w", []int{3}, ints})
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(i int, into any) npy.Header {
		t.Helper()
		m, err := z.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		r, err := npy.NewReader(bytes.NewReader(all))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(into); err != nil {
			t.Fatal(err)
		}
		return r.Header
	}
	var got []float64
	h := read(0, &got)
	if !slices.Equal(got, want) || !slices.Equal(h.Descr.Shape, []int{2, 3}) || h.Descr.Type != "<f8" || h.Descr.Fortran {
		t.Errorf("npyio read %v with header %v", got, h)
	}
	var gotInts []int32
	read(1, &gotInts)
	if !slices.Equal(gotInts, ints) {
		t.Errorf("npyio read %v, want %v", gotInts, ints)
	}
}

func TestOrders(t *testing.T) {
	header := func(descr, fortran, shape string) string {
		return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n"
	}
	for _, major := range []byte{1, 2, 3} {
		f := open(t, member(t, "a.npy", npyBytes(major, header(">i2", "True", "(2, 3)"), 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0xff, 0xfa)))
		if got, want := get(t, f, "a", Ints[int32]), []int32{1, 2, 3, 4, 5, -6}; !slices.Equal(got, want) {
			t.Errorf("version %d: %v, want %v", major, got, want)
		}
	}
	// 2×2×2 by columns: element (i,j,k) stands at i + 2j + 4k and is 100i + 10j + k.
	f := open(t, member(t, "a.npy", npyBytes(1, header("|u1", "True", "(2, 2, 2)"), 0, 100, 10, 110, 1, 101, 11, 111)))
	if got, want := get(t, f, "a", Ints[int32]), []int32{0, 1, 10, 11, 100, 101, 110, 111}; !slices.Equal(got, want) {
		t.Errorf("three axes: %v, want %v", got, want)
	}
	f = open(t, member(t, "a.npy", npyBytes(1, header(">U2", "False", "(1,)"), 0, 0, 0, 'h', 0, 0, 0, 'i')))
	if got := get(t, f, "a", Strings); got[0] != "hi" {
		t.Errorf("big-endian string %q", got[0])
	}
	f = open(t, member(t, "a.npy", npyBytes(1, header(">f8", "False", "()"), 0x3f, 0xf8, 0, 0, 0, 0, 0, 0)))
	if got := get(t, f, "a", Floats[float32]); got[0] != 1.5 {
		t.Errorf("big-endian scalar %v", got[0])
	}
}

func TestBadInput(t *testing.T) {
	h := func(descr, shape string, body ...byte) []byte {
		return member(t, "a.npy", npyBytes(1, "{'descr': '"+descr+"', 'fortran_order': False, 'shape': "+shape+", }\n", body...))
	}
	whole := archive(t, false, array{"a", []int{4}, []float64{1, 2, 3, 4}})
	damaged := bytes.Clone(whole)
	damaged[bytes.Index(damaged, []byte("NUMPY"))+130] ^= 0x40 // an element: the checksum must notice
	for _, c := range []struct {
		name, want string
		in         []byte
	}{
		{"empty", "archive", nil},
		{"noise", "archive", []byte("PK\x03\x04 but then not a zip at all")},
		{"truncated", "archive", whole[:len(whole)-10]},
		{"damaged", "checksum", damaged},
		{"no such array", `no such array`, member(t, "b.npy", nil)},
		{"not npy", "magic", member(t, "a.npy", []byte("hello world, this is text"))},
		{"empty member", "cut short", member(t, "a.npy", nil)},
		{"version", "version is 9.0", member(t, "a.npy", npyBytes(9, "{}"))},
		{"header length", "claims", member(t, "a.npy", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'"))},
		{"header cut", "cut short", member(t, "a.npy", []byte("\x93NUMPY\x01\x00\xff\x00{'descr'"))},
		{"no dictionary", "malformed", member(t, "a.npy", npyBytes(1, "nothing\n"))},
		{"no line end", "malformed", member(t, "a.npy", npyBytes(1, "{'descr': '<f4'}"))},
		{"keys in disorder", "malformed", member(t, "a.npy", npyBytes(1, "{'shape': (1,), 'fortran_order': False, 'descr': '<f4', }\n"))},
		{"pickle", "pickle", h("|O", "(1,)", 0)},
		{"record", "not supported", member(t, "a.npy", npyBytes(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", 0, 0, 0, 0))},
		{"half float", "not supported", h("<f2", "(1,)", 0, 0)},
		{"complex", "not supported", h("<c8", "(1,)", 0, 0, 0, 0, 0, 0, 0, 0)},
		{"negative size", "impossible", h("<f4", "(-1,)")},
		{"sizes that overflow", "impossible", h("<f4", "(4294967296, 4294967296)")},
		{"sizes beyond int", "malformed", h("<f4", "(99999999999999999999,)")},
		{"more promised than held", "holds only", h("<f4", "(1000000000,)", 0, 0, 0, 0)},
		{"empty strings without end", "no length", h("|S0", "(1000000000000,)")},
		{"bytes left over", "follow the last", h("<f4", "(1,)", 0, 0, 0, 0, 0)},
		{"not a character", "unicode", h("<U1", "(1,)", 0, 0, 0x11, 0)},
		{"twice", "twice", archiveTwice(t)},
	} {
		f, err := Open(bytes.NewReader(c.in), int64(len(c.in)), "x.npz")
		if err == nil {
			var a *Array
			if a, err = f.Array("a"); err == nil {
				if a.dtype.kind == 'U' || a.dtype.kind == 'S' {
					_, err = Strings(a)
				} else {
					_, err = Floats[float64](a)
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.npz: ") {
			t.Errorf("%s: error %v, want one that begins with the file's name and says %q", c.name, err, c.want)
		}
	}
}

func archiveTwice(t *testing.T) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for range 2 {
		if _, err := z.Create("a.npy"); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A directory that claims a terabyte of zeros must not make the reader allocate it.
func TestMemoryIsBoundedByWhatWasRead(t *testing.T) {
	body := npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (137438953472,), }\n", 1, 2, 3)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "a.npy", Method: zip.Store, CompressedSize64: 1 << 40, UncompressedSize64: 2 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), "x.npz")
	if err == nil {
		var a *Array
		if a, err = f.Array("a"); err == nil {
			_, err = Floats[float64](a)
		}
	}
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("a terabyte was read from a small file")
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes allocated for a file of %d", used, b.Len())
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		in   array
	}{
		{"too few", array{"a", []int{3}, []float32{1}}},
		{"scalar of two", array{"a", nil, []float32{1, 2}}},
		{"negative", array{"a", []int{-1}, []float32{}}},
		{"type", array{"a", []int{1}, []complex64{1}}},
		{"int has no fixed size", array{"a", []int{1}, []int{1}}},
		{"NUL at the end", array{"a", []int{1}, []string{"x\x00"}}},
		{"no name", array{"", []int{1}, []float32{1}}},
	} {
		if err := NewWriter(io.Discard).Write(c.in.name, c.in.shape, c.in.data); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	w := NewWriter(io.Discard)
	if err := w.Write("a", nil, []bool{true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write("a", nil, []bool{true}); err == nil {
		t.Error("a name used twice: no error")
	}
}
