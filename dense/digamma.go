package dense

import (
	"context"
	"math"

	"sddmmkit/dense/kernels"
)

// ExpDigamma sets dst = exp(ψ(x)), element by element, for x > 0, where ψ is the logarithmic derivative of Γ: the
// exponential of the expected logarithm of a variable with the distribution Gamma(x, 1) (Blei, Ng, Jordan 2003, LDA).
// exp(ψ(0)) is 0, its limit; for negative x the result has no meaning. dst may be x.
//
// The relative error is that of a few roundings to T, more of them where x is small: ψ(x) ≈ −1/x is rounded before it is
// exponentiated.
func ExpDigamma[T Float](ctx context.Context, dst, x *Resident[T]) error {
	h, l, err := on("dense.ExpDigamma", dst.Operand("dst"), x.Operand("X"))
	if err != nil {
		return err
	}
	if dst.Rows != x.Rows || dst.Cols != x.Cols {
		return shapeError("dense.ExpDigamma", "equal sizes", "dst %s, X %s", dst.Shape(), x.Shape())
	}
	if l != nil {
		return mapOnGPU(ctx, l, kernels.ExpDigamma, dst, x)
	}
	dm, xm := dst.Host(), x.Host()
	return forRows(ctx, h, x.Rows, x.Cols, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dm.Row(i)
			for k, v := range xm.Row(i) {
				d[k] = T(expDigamma(float64(v)))
			}
		}
	})
}

// expDigamma returns exp(ψ(x)). With y = x + n − 1/2,
//
//	ψ(x) = log y + 1/24 y⁻² − 7/960 y⁻⁴ + … − Σ_{i<n} 1/(x+i)        DLMF 5.11.2 (about 1/2) and 5.5.2
//
// so that one exponential is all it takes, and the terms of the sum join in pairs:
// 1/(x+i) + 1/(x+n−1−i) = (2x+n−1) / (x(x+n−1) + i(n−1−i)). For n = 10 the first term that is left out, 3.1·y⁻¹⁸, is
// below 10⁻¹⁷.
func expDigamma(x float64) float64 {
	if x > 1e16 {
		return x - 0.5 // the rest is below the rounding error
	}
	z, y := x*(x+9), x+9.5
	w := 1 / (y * y)
	far := w * (511.0/67584 - w*(1414477.0/67092480-w*(8191.0/98304-w*(118518239.0/267386880))))
	near := w * (1.0/24 - w*(7.0/960-w*(31.0/8064-w*(127.0/30720-far))))
	return y * math.Exp(near-(2*x+9)*(1/z+1/(z+8)+1/(z+14)+1/(z+18)+1/(z+20)))
}
