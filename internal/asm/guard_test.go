//go:build linux || darwin

package asm

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n elements, of which the last (or, atHead, the first) stands next to a page that must not be touched.
func guarded[T any](t *testing.T, n int, atHead bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	bytes := n * int(unsafe.Sizeof(*new(T)))
	whole := (bytes + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, whole+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[page+whole:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	from := page
	if !atHead {
		from += whole - bytes
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[from])), n)
}

// No loop touches memory before or after its operands.
func TestGuardPages(t *testing.T) {
	testGuardPages[float32](t)
	testGuardPages[float64](t)
}

func testGuardPages[T Float](t *testing.T) {
	const rows, most = 3, 37
	for _, l := range levels(t) {
		use(t, l)
		for _, head := range []bool{false, true} {
			for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 129} {
				b, a, c := guarded[T](t, rows*k, head), guarded[T](t, k, head), guarded[T](t, k, head)
				for i := range b {
					b[i] = 1
				}
				for i := range a {
					a[i] = 1
				}
				pm, sm, colsm := guarded[T](t, most, head), guarded[T](t, most, head), guarded[int32](t, most, head)
				for n := range most + 1 {
					p, s, cols := pm[most-n:], sm[most-n:], colsm[most-n:]
					if head {
						p, s, cols = pm[:n], sm[:n], colsm[:n]
					}
					for j := range cols {
						p[j], s[j], cols[j] = 1, 2, int32((rows-1)*((j+1)%2)) // the last row and the first
					}
					For[T]().SDDMM(p, s, a, b, k, cols, Scale|Beta, 1, 1)
					for j, x := range p {
						if x != T(2*k+1) {
							t.Fatalf("%v %T, K %d, n %d: p[%d] is %v, want %v", l, x, k, n, j, x, 2*k+1)
						}
					}
					for _, v := range [][]T{s, nil} {
						want := T(2 * n)
						if v == nil {
							want = T(n)
						}
						For[T]().SpMM(c, v, b, k, cols, n, 1, true)
						for i, x := range c {
							if x != want {
								t.Fatalf("%v %T, K %d, n %d: c[%d] is %v, want %v", l, x, k, n, i, x, want)
							}
						}
					}
				}
			}
		}
	}
}
