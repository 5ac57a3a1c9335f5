package spmm

import (
	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// Reference is the formula as a plain loop in float64, the yardstick of every other path. It
// returns C (row-major, without gaps) and, for the error bound, what the products add up to in
// absolute value, |α|·Σ|s·b| + |β·c|. prev is C before the call.
func Reference[T Float](op Op, alpha T, s *sparse.CSR[T], b dense.Matrix[T], beta T, prev dense.Matrix[T]) (c, mag []float64) {
	rows, k := s.Rows, b.Cols
	if op == Trans {
		rows = s.Cols
	}
	c, mag = make([]float64, rows*k), make([]float64, rows*k)
	if alpha != 0 {
		for i := range s.Rows {
			for z := s.RowPtr[i]; z < s.RowPtr[i+1]; z++ {
				to, from := i, int(s.ColIdx[z])
				if op == Trans {
					to, from = from, to
				}
				for j := range k {
					t := float64(alpha) * float64(s.Val[z]) * float64(b.At(from, j))
					c[to*k+j] += t
					mag[to*k+j] += max(t, -t)
				}
			}
		}
	}
	if beta != 0 {
		for i := range rows {
			for j := range k {
				t := float64(beta) * float64(prev.At(i, j))
				c[i*k+j] += t
				mag[i*k+j] += max(t, -t)
			}
		}
	}
	return c, mag
}
