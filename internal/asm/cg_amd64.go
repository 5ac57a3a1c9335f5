//go:build amd64 && !noasm

package asm

import "unsafe"

// bindCG wraps assembly in the signatures of CG.
func bindCG[T Float](
	start func(x, r, p, d *T, n int, shift T) (sum, scale float64),
	step func(x, r, p, q, d *T, n int, shift T, rz float64) (pq, sum float64),
) CG[T] {
	return CG[T]{
		Start: func(x, r, p, d []T, shift T) (rz, scale float64) {
			n := len(x)
			r, p, d = r[:n], p[:n], d[:n] // assembly does not look
			return start(unsafe.SliceData(x), unsafe.SliceData(r), unsafe.SliceData(p), unsafe.SliceData(d), n, shift)
		},
		Step: func(x, r, p, q, d []T, shift T, rz float64) (next float64, ok bool) {
			n := len(x)
			r, p, q, d = r[:n], p[:n], q[:n], d[:n]
			pq, sum := step(unsafe.SliceData(x), unsafe.SliceData(r), unsafe.SliceData(p), unsafe.SliceData(q), unsafe.SliceData(d), n, shift, rz)
			if !curved(pq) {
				return 0, false
			}
			return sum, true
		},
	}
}
