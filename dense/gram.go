package dense

import (
	"context"
)

// Gram sets g = XᵀX, K×K for an M×K matrix X, summed in float64 in a fixed order.
func Gram[T Float](ctx context.Context, g, x *Resident[T]) error {
	h, l, err := on("dense.Gram", g.Operand("G"), x.Operand("X"))
	if err != nil {
		return err
	}
	k := x.Cols
	if g.Rows != k || g.Cols != k {
		return shapeError("dense.Gram", "G square with one row per column of X", "G %s, X %s", g.Shape(), x.Shape())
	}
	if l != nil {
		return gramOnGPU(ctx, l, g, x)
	}
	xm, gm := x.Host(), g.Host()
	sum, err := sumRows(ctx, h, x.Rows, k*k, func(sum []float64, i int) {
		row := xm.Row(i)
		for p, u := range row {
			uf, to := float64(u), sum[p*k:p*k+p+1]
			for q := range to {
				to[q] += uf * float64(row[q])
			}
		}
	})
	if err != nil {
		return err
	}
	for p := range k {
		for q := range p + 1 {
			s := T(sum[p*k+q])
			gm.Set(p, q, s)
			gm.Set(q, p, s)
		}
	}
	return nil
}

// AddMul sets c += α·X·G for an M×K matrix X and a K×K matrix G. c must not be x.
func AddMul[T Float](ctx context.Context, c *Resident[T], alpha T, x, g *Resident[T]) error {
	h, l, err := on("dense.AddMul", c.Operand("C"), x.Operand("X"), g.Operand("G"))
	if err != nil {
		return err
	}
	if g.Rows != x.Cols || g.Cols != c.Cols || c.Rows != x.Rows {
		return shapeError("dense.AddMul", "C M×L, X M×K, G K×L", "C %s, X %s, G %s", c.Shape(), x.Shape(), g.Shape())
	}
	if l != nil {
		return addMulOnGPU(ctx, l, c, alpha, x, g)
	}
	cm, xm, gm := c.Host(), x.Host(), g.Host()
	return forRows(ctx, h, x.Rows, x.Cols, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			to := cm.Row(i)
			for p, u := range xm.Row(i) {
				u *= alpha
				for q, v := range gm.Row(p)[:len(to)] {
					to[q] += u * v
				}
			}
		}
	})
}
