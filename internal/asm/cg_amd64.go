//go:build amd64 && !noasm

package asm

import "unsafe"

// bindCG wraps assembly in the signatures of CG. Assembly has the distance of rows in bytes.
func bindCG[T Float](
	start func(x, r, p, d *T, n int, shift T) (sum, scale float64),
	step func(x, r, p, q, d *T, xStep, rStep, pStep, qStep, dStep, n int, shift *T, rz, stop *float64, rows int) (active int),
) CG[T] {
	return CG[T]{
		Start: func(x, r, p, d []T, shift T) (rz, scale float64) {
			n := len(x)
			r, p, d = r[:n], p[:n], d[:n] // assembly does not look
			return start(unsafe.SliceData(x), unsafe.SliceData(r), unsafe.SliceData(p), unsafe.SliceData(d), n, shift)
		},
		Step: func(x, r, p, q, d Rows[T], shift []T, rz, stop []float64) (active int) {
			rows := len(rz)
			if rows == 0 {
				return 0
			}
			shift, stop = shift[:rows], stop[:rows] // assembly does not look
			for _, m := range [...]*Rows[T]{&x, &r, &p, &q, &d} {
				m.K = x.K
				m.Row(rows - 1)
			}
			size := int(unsafe.Sizeof(T(0)))
			return step(unsafe.SliceData(x.Data), unsafe.SliceData(r.Data), unsafe.SliceData(p.Data), unsafe.SliceData(q.Data), unsafe.SliceData(d.Data),
				size*x.Stride, size*r.Stride, size*p.Stride, size*q.Stride, size*d.Stride,
				x.K, unsafe.SliceData(shift), unsafe.SliceData(rz), unsafe.SliceData(stop), rows)
		},
	}
}
