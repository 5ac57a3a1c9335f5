package dense

import (
	"context"
)

// gramBlocks bounds the number of partial K×K sums of Gram, whatever the number of rows.
const gramBlocks = 32

// Gram sets g = XᵀX, K×K for an M×K matrix X, summed in float64 in a fixed order.
func Gram[T Float](ctx context.Context, g, x *Resident[T]) error {
	h, err := host("dense.Gram", g.Operand("G"), x.Operand("X"))
	if err != nil {
		return err
	}
	k := x.Cols
	if g.Rows != k || g.Cols != k {
		return shapeError("dense.Gram", "G square with one row per column of X", "G %s, X %s", g.Shape(), x.Shape())
	}
	xm, gm := x.Host(), g.Host()
	blocks := min(gramBlocks, max(x.Rows, 1))
	part := make([][]float64, blocks)
	err = h.Run(ctx, blocks, func(b int) {
		sum := make([]float64, k*k)
		for i := x.Rows * b / blocks; i < x.Rows*(b+1)/blocks; i++ {
			row := xm.Row(i)
			for p, u := range row {
				uf, to := float64(u), sum[p*k:p*k+p+1]
				for q := range to {
					to[q] += uf * float64(row[q])
				}
			}
		}
		part[b] = sum
	})
	if err != nil {
		return err
	}
	for p := range k {
		for q := range p + 1 {
			var s float64
			for _, sum := range part {
				s += sum[p*k+q]
			}
			gm.Set(p, q, T(s))
			gm.Set(q, p, T(s))
		}
	}
	return nil
}

// AddMul sets c += α·X·G for an M×K matrix X and a K×K matrix G. c must not be x.
func AddMul[T Float](ctx context.Context, c *Resident[T], alpha T, x, g *Resident[T]) error {
	h, err := host("dense.AddMul", c.Operand("C"), x.Operand("X"), g.Operand("G"))
	if err != nil {
		return err
	}
	if g.Rows != x.Cols || g.Cols != c.Cols || c.Rows != x.Rows {
		return shapeError("dense.AddMul", "C M×L, X M×K, G K×L", "C %s, X %s, G %s", c.Shape(), x.Shape(), g.Shape())
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
