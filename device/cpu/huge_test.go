package cpu

import (
	"bytes"
	"runtime"
	"testing"
	"unsafe"
)

// Large memory begins at a huge page and is zero, also where Go has used it before.
func TestLargeAlloc(t *testing.T) {
	d := New(1)
	for range 3 {
		used := make([]byte, 9*hugePage)
		for i := range used {
			used[i] = 1
		}
		runtime.GC() // which frees it
		for _, size := range []int64{hugePage/2 - 1, hugePage / 2, hugePage + 1, 2*hugePage - 1, 2 * hugePage, 8*hugePage + 4096} {
			m, err := d.Alloc(size)
			if err != nil {
				t.Fatal(err)
			}
			b := m.HostBytes()
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); size >= hugePage/2 && at%hugePage != 0 || at%alignment != 0 {
				t.Errorf("%d bytes begin at %#x", size, at)
			}
			if int64(len(b)) != size || int64(cap(b)) != size || bytes.Count(b, []byte{0}) != len(b) {
				t.Errorf("%d bytes, %d of them zero; want %d zeros", len(b), bytes.Count(b, []byte{0}), size)
			}
			for i := range b {
				b[i] = 2
			}
			if bytes.Count(b, []byte{2}) != len(b) {
				t.Errorf("%d bytes do not keep what is written", size)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
