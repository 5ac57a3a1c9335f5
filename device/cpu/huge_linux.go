package cpu

import (
	"syscall"
	"unsafe"
)

// untouched returns memory whose pages are not there yet, and a function that gives it back: Go would clear what it had
// used before, which takes long and cannot be interrupted. It is Go's where the system has none to give.
func untouched(bytes int64) (b []byte, free func()) {
	b, err := syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return make([]byte, bytes), func() {}
	}
	return b, func() { _ = syscall.Munmap(b) }
}

// makeHuge makes the zeroed b, which nobody has written to, lie in huge pages as far as it covers whole ones. A gather of rows touches
// another page each time, and beyond the reach of the TLB each costs a walk of the page tables. Go may have used the memory
// before, and then its small pages are there and stay; they are given back, and what is touched next comes as huge pages of zeros.
func makeHuge(b []byte) {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % hugePage)
	whole := (len(b) - skip) / hugePage * hugePage
	if whole <= 0 {
		return
	}
	// An error means that the system has none to give; the memory works without.
	if syscall.Madvise(b[skip:skip+whole], syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(b[skip:skip+whole], syscall.MADV_DONTNEED)
	}
}
