//go:build linux || darwin

package asm

import (
	"math"
	"syscall"
	"testing"
	"unsafe"

	"sddmmkit/tiling"
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
			for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 129, 300} {
				for _, stride := range []int{k, k + 2} {
					b, a, c := guarded[T](t, (rows-1)*stride+k, head), guarded[T](t, k, head), guarded[T](t, k, head)
					a2, c2 := Rows[T]{guarded[T](t, 2*k, head), k, k}, Rows[T]{guarded[T](t, 2*k, head), k, k}
					for i := range a2.Data {
						a2.Data[i] = 1
					}
					ptrm, segs := guarded[int64](t, 3, head), guarded[tiling.Segment](t, 2, head)
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
						For[T]().SDDMM(p, s, a, b, stride, cols, Scale|Beta, 1, 1)
						for j, x := range p {
							if x != T(2*k+1) {
								t.Fatalf("%v %T, K %d, n %d: p[%d] is %v, want %v", l, x, k, n, j, x, 2*k+1)
							}
						}
						same := func(what string, got []T, want T) {
							t.Helper()
							for i, x := range got {
								if x != want {
									t.Fatalf("%v %T, K %d, n %d: element %d of %s is %v, want %v", l, x, k, n, i, what, x, want)
								}
							}
						}
						if half := int64(n / 2); half > 0 {
							copy(ptrm, []int64{0, half, int64(n)})
							segs[0], segs[1] = tiling.Segment{Lo: half, N: int32(int64(n) - half), Row: 1}, tiling.Segment{N: int32(half)}
							for _, near := range []Op{0, Near, Near | Cached} {
								For[T]().SDDMMRows(p, s, a2, b, stride, cols, ptrm, Scale|near, 1, 1)
								same("P of two rows", p, T(2*k))
								For[T]().SDDMMSegments(p, s, a2, b, stride, cols, segs, Dot|near, 1, 1)
								same("P of two segments", p, T(k))
							}
						}
						for _, v := range [][]T{s, nil} {
							want := T(2 * n)
							if v == nil {
								want = T(n)
							}
							For[T]().SpMM(c, v, b, stride, cols, n, 1, true)
							for i, x := range c {
								if x != want {
									t.Fatalf("%v %T, K %d, n %d: c[%d] is %v, want %v", l, x, k, n, i, x, want)
								}
							}
							// Two rows, and the second of them first as segments.
							half := int64(n / 2)
							copy(ptrm, []int64{0, half, int64(n)})
							for _, near := range []bool{false, true} {
								For[T]().SpMMRows(c2, v, b, stride, cols, ptrm, 1, true, near)
								same("C of two rows", c2.Row(0), want/T(max(n, 1))*T(half))
								same("C of two rows", c2.Row(1), want/T(max(n, 1))*T(int64(n)-half))
								segs[0], segs[1] = tiling.Segment{Lo: half, N: int32(int64(n) - half), Row: 1}, tiling.Segment{N: int32(half)}
								if half > 0 {
									For[T]().SpMMSegments(c2, v, b, stride, cols, segs, ptrm, most+1, 1, false, near)
									same("C of two segments", c2.Row(0), 2*(want/T(n)*T(half)))
									same("C of two segments", c2.Row(1), 2*(want/T(n)*T(int64(n)-half)))
								}
							}
						}
					}
				}
			}
		}
	}
}

// Nor do those for rows of B whose last element lies apart.
func TestGuardPagesOfLast(t *testing.T) {
	const rows, most = 3, 37
	for _, l := range levels(t) {
		use(t, l)
		if For[float32]().SpMMRowsLast == nil {
			continue
		}
		for _, head := range []bool{false, true} {
			for k := 17; k <= 129; k += 16 {
				b, last := guarded[float32](t, rows*(k-1), head), guarded[float32](t, rows, head)
				c := Rows[float32]{guarded[float32](t, 2*k, head), k, k}
				ptr, segs := guarded[int64](t, 3, head), guarded[tiling.Segment](t, 2, head)
				v, cols := guarded[float32](t, most, head), guarded[int32](t, most, head)
				for _, x := range [][]float32{b, last, v} {
					for i := range x {
						x[i] = 1
					}
				}
				for j := range cols {
					cols[j] = int32((rows - 1) * ((j + 1) % 2)) // the last row and the first
				}
				copy(ptr, []int64{0, most / 2, most})
				segs[0], segs[1] = tiling.Segment{Lo: most / 2, N: most - most/2, Row: 1}, tiling.Segment{N: most / 2}
				for _, near := range []bool{false, true} {
					For[float32]().SpMMRowsLast(c, v, b, k-1, last, cols, ptr, 1, true, near)
					For[float32]().SpMMSegmentsLast(c, v, b, k-1, last, cols, segs, ptr, most+1, 1, false, near)
					for i, x := range c.Data {
						if want := float32(2 * (ptr[i/k+1] - ptr[i/k])); x != want {
							t.Fatalf("%v, K %d: element %d of C is %v, want %v", l, k, i, x, want)
						}
					}
				}
			}
		}
	}
}

func TestGuardPagesOfCG(t *testing.T) {
	testGuardPagesOfCG[float32](t)
	testGuardPagesOfCG[float64](t)
}

func testGuardPagesOfCG[T Float](t *testing.T) {
	for _, l := range levels(t) {
		use(t, l)
		for n := range 40 {
			for _, head := range []bool{false, true} {
				x, r, p, q, d := guarded[T](t, n, head), guarded[T](t, n, head), guarded[T](t, n, head), guarded[T](t, n, head), guarded[T](t, n, head)
				for i := range n {
					r[i], d[i], q[i] = 1, 1, 1
				}
				if rz, _ := For[T]().CG.Start(x, r, p, d, 1); rz != float64(n)/2 {
					t.Fatalf("%v %T, %d elements: Start returns %v", l, T(0), n, rz)
				}
				one := func(v []T) Rows[T] { return Rows[T]{v, n, n} }
				shift, rz, stop := guarded[T](t, 1, head), guarded[float64](t, 1, head), guarded[float64](t, 1, head)
				for _, end := range []float64{0, math.Inf(1)} {
					shift[0], rz[0], stop[0] = 1, 0.7, end // 1 would leave no residual in two elements
					active := For[T]().CG.Step(one(x), one(r), one(p), one(q), one(d), shift, rz, stop)
					if goesOn := n > 0 && end == 0; active == 1 != goesOn || rz[0] > 0 != goesOn {
						t.Fatalf("%v %T, %d elements: Step returns %d and %v", l, T(0), n, active, rz[0])
					}
				}
			}
		}
	}
}
