package cpu

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of huge pages on amd64, and on arm64 with pages of 4 KB.
const hugePage = 2 << 20

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
