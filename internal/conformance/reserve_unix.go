//go:build linux || darwin

package conformance

import "syscall"

// reserve returns zeroed bytes that take memory only where they are touched.
func reserve(bytes int) (b []byte, free func(), err error) {
	b, err = syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	return b, func() { syscall.Munmap(b) }, err
}
