package npz

import (
	"bytes"
	"testing"
)

// Whatever the bytes, reading an archive ends in values that fit the shape or in an error.
func FuzzNPZ(f *testing.F) {
	f.Add(archive(f, false, array{"a", []int{2}, []int8{1, 2}}))
	f.Add(archive(f, true, array{"a", []int{1}, []string{"x"}}))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(read)
}

// The same for the bytes of one array: those of an archive hardly get past its checksums.
func FuzzNPY(f *testing.F) {
	f.Add(npyBytes(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6))
	f.Add(npyBytes(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }\n", 1, 2, 3, 4))
	f.Add(npyBytes(1, "{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }\n", 'a', 0, 0, 0, 'b', 0, 0, 0))
	f.Add(npyBytes(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n", 'c', 's', 'r'))
	f.Add(npyBytes(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 7), }\n"))
	f.Fuzz(func(t *testing.T, b []byte) { read(t, member(t, "a.npy", b)) })
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
