package cpu

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of huge pages on amd64, and on arm64 with pages of 4 KB.
const hugePage = 2 << 20

// untouched returns memory whose pages are not there yet, and a function that gives it back: Go would clear what it had
// used before, which takes long and cannot be interrupted. It is Go's where the system has none to give.
func untouched(bytes int64) (b []byte, free func()) {
	b, err := syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return make([]byte, bytes), func() {}
	}
	return b, func() { _ = syscall.Munmap(b) }
}

// adviseHuge asks for huge pages where b is large enough to have some. A gather of rows touches another
// page each time, and beyond the reach of the TLB each costs a walk of the page tables.
func adviseHuge(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % hugePage)
	whole := (len(b) - skip) / hugePage * hugePage
	// An error means that the system has none to give; the memory works without.
	_ = syscall.Madvise(b[skip:skip+whole], syscall.MADV_HUGEPAGE)
}
