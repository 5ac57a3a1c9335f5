package npz

import (
	"bytes"
	"testing"
)

// Whatever the bytes, reading ends in values that fit the shape or in an error.
func FuzzNPZ(f *testing.F) {
	f.Add(archive(f, false, array{"a", []int{2, 2}, []float64{1, 2, 3, 4}}, array{"s", []int{2}, []string{"x", "yz"}}))
	f.Add(archive(f, true, array{"indptr", []int{3}, []int32{0, 1, 2}}, array{"format", nil, [][]byte{[]byte("csr")}}))
	f.Add(member(f, "a.npy", npyBytes(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6)))
	f.Add(member(f, "a.npy", npyBytes(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }\n", 1, 2, 3, 4)))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		read(t, b)
		// The zip layer rejects nearly every mutation; the same bytes as a member reach the .npy layer.
		read(t, member(t, "a.npy", b))
	})
}

func read(t *testing.T, b []byte) {
	f, err := Open(bytes.NewReader(b), int64(len(b)), "x.npz")
	if err != nil {
		return
	}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			continue
		}
		if v, err := Floats[float32](a); err == nil && len(v) != a.Len() {
			t.Errorf("%d floats for shape %v", len(v), a.Shape)
		}
		if v, err := Ints[int32](a); err == nil && len(v) != a.Len() {
			t.Errorf("%d integers for shape %v", len(v), a.Shape)
		}
		if v, err := Strings(a); err == nil && len(v) != a.Len() {
			t.Errorf("%d strings for shape %v", len(v), a.Shape)
		}
	}
}
