//go:build amd64 && !noasm

package asm

import (
	"slices"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

func detect() Level {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.BMI2, cpuid.FMA3, cpuid.AVX2):
		return AVX512
	case c.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2):
		return AVX2
	}
	return Generic
}

// For returns the loops of the active level.
func For[T Float]() Kernels[T] {
	var k any
	_, single := any(T(0)).(float32)
	switch l := Active(); {
	case l == Generic:
		return generic[T]()
	case l == AVX2 && single:
		k = bind(sddmmF32AVX2, spmmF32AVX2, narrowF32AVX2, 8)
	case l == AVX2:
		k = bind(sddmmF64AVX2, spmmF64AVX2, narrowF64AVX2, 4)
	case single:
		k = bind(sddmmF32AVX512, spmmF32AVX512, narrowF32AVX512, 16)
	default:
		k = bind(sddmmF64AVX512, spmmF64AVX512, narrowF64AVX512, 8)
	}
	return k.(Kernels[T])
}

// Prefetch fetches the first cache lines of three slices that will be needed soon; the inner loops fetch
// what follows.
func Prefetch[A, B, C any](a []A, b []B, c []C) {
	const most = 512 // bytes
	prefetch3((*byte)(unsafe.Pointer(unsafe.SliceData(a))), min(len(a)*int(unsafe.Sizeof(*new(A))), most),
		(*byte)(unsafe.Pointer(unsafe.SliceData(b))), min(len(b)*int(unsafe.Sizeof(*new(B))), most),
		(*byte)(unsafe.Pointer(unsafe.SliceData(c))), min(len(c)*int(unsafe.Sizeof(*new(C))), most))
}

type (
	sddmmFunc[T Float] = func(p, s, a, b *T, stride int, cols *int32, n, ahead, depth, op int, alpha, beta T)
	spmmFunc[T Float]  = func(c, v *T, step int, b *T, stride int, cols *int32, n, ahead, tail, fresh int, alpha T)

	sddmmNarrowFunc[T Float] = func(p, s, a *T, step int, b *T, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, op int, alpha, beta T)
	spmmNarrowFunc[T Float]  = func(c *T, width int, v *T, step int, b *T, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, fresh int, alpha T)
)

// narrow is the loops for rows of i+1 elements.
type narrow[T Float] struct {
	sddmm [Narrow]sddmmNarrowFunc[T]
	spmm  [Narrow]spmmNarrowFunc[T]
}

// near is the bytes of B up to which its narrow rows are not fetched early: so many of them are on their way
// at a time that no latency but memory's shows.
const near = 2 << 20

// ahead returns the number of column indices up to which narrow rows of B are fetched.
func ahead[T Float](b []T, cols []int32) int {
	if len(b)*int(unsafe.Sizeof(T(0))) <= near {
		return 0
	}
	return len(cols)
}

// bind wraps assembly in the signatures of Kernels. blocks[i] does rows of C of up to i+1 vectors.
func bind[T Float](sddmm sddmmFunc[T], blocks []spmmFunc[T], narrow narrow[T], lanes int) Kernels[T] {
	size := int(unsafe.Sizeof(T(0)))
	one := slices.Repeat([]T{1}, lanes)
	return Kernels[T]{
		SDDMM: func(p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T) {
			if len(p) == 0 {
				return
			}
			_ = cols[len(p)-1]
			if k := len(a); k <= Narrow {
				if k == 0 {
					sddmmGeneric(p, s, a, b, stride, cols, op, alpha, beta)
					return
				}
				narrow.sddmm[k-1](unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a), 0, unsafe.SliceData(b), stride*size,
					unsafe.SliceData(cols), len(p), nil, 1, len(cols), ahead(b, cols), int(op), alpha, beta)
				return
			}
			sddmm(unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a), unsafe.SliceData(b), stride*size,
				unsafe.SliceData(cols), len(p), len(cols), len(a), int(op), alpha, beta)
		},
		SpMM: func(c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool) {
			step, set := size, 0
			if v == nil {
				v, step = one, 0
			}
			if fresh {
				set = 1
			}
			if k := len(c); 0 < k && k <= Narrow {
				narrow.spmm[k-1](unsafe.SliceData(c), 0, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*size,
					unsafe.SliceData(cols), n, nil, 1, len(cols), ahead(b, cols), set, alpha)
				return
			}
			for len(c) > 0 {
				width := min(len(c), len(blocks)*lanes)
				chunks := (width + lanes - 1) / lanes
				blocks[chunks-1](unsafe.SliceData(c), unsafe.SliceData(v), step, unsafe.SliceData(b), stride*size,
					unsafe.SliceData(cols), n, len(cols), width-(chunks-1)*lanes, set, alpha)
				c = c[width:]
				if len(b) > width {
					b = b[width:]
				}
			}
		},
		SDDMMRows: func(p, s []T, a Rows[T], b []T, stride int, cols []int32, ptr []int64, op Op, alpha, beta T) {
			if len(ptr) < 2 {
				return
			}
			narrow.sddmm[a.K-1](unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a.Data), a.Stride*size, unsafe.SliceData(b), stride*size,
				unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], len(ptr)-1, len(cols), ahead(b, cols), int(op), alpha, beta)
		},
		SpMMRows: func(c Rows[T], v, b []T, stride int, cols []int32, ptr []int64, alpha T, fresh bool) {
			if len(ptr) < 2 {
				return
			}
			step, set := size, 0
			if v == nil {
				v, step = one, 0
			}
			if fresh {
				set = 1
			}
			narrow.spmm[c.K-1](unsafe.SliceData(c.Data), c.Stride*size, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*size,
				unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], len(ptr)-1, len(cols), ahead(b, cols), set, alpha)
		},
	}
}
