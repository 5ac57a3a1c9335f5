package sddmm

import (
	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// Reference is the formula as a plain loop in float64, the yardstick of every other path. It
// returns P and, for the error bound, what the products add up to in absolute value:
// mag_ij = Σ_k |A_ik·B_jk|. prev is P before the call, or nil for β = 0.
func Reference[T Float](f Epilogue, alpha T, s *sparse.CSR[T], a, b dense.Matrix[T], beta T, prev []T) (p, mag []float64) {
	p, mag = make([]float64, s.NNZ()), make([]float64, s.NNZ())
	for i := range s.Rows {
		for z := s.RowPtr[i]; z < s.RowPtr[i+1]; z++ {
			j := int(s.ColIdx[z])
			if alpha != 0 {
				var d float64
				for k := range a.Cols {
					t := float64(a.At(i, k)) * float64(b.At(j, k))
					d += t
					mag[z] += max(t, -t)
				}
				v := float64(s.Val[z])
				switch f {
				case Dot:
					p[z] = float64(alpha) * d
				case Scale:
					p[z] = float64(alpha) * (v * d)
				case Residual:
					p[z] = float64(alpha) * (v - d)
				case Quotient:
					p[z] = float64(alpha) * (v / d)
				}
			}
			if beta != 0 {
				p[z] += float64(beta) * float64(prev[z])
			}
		}
	}
	return p, mag
}
