package dense

import (
	"context"
)

// Square sets dst = x∘x, element by element. dst may be x.
func Square[T Float](ctx context.Context, dst, x *Resident[T]) error {
	h, err := host("dense.Square", dst.Operand("dst"), x.Operand("X"))
	if err != nil {
		return err
	}
	if dst.Rows != x.Rows || dst.Cols != x.Cols {
		return shapeError("dense.Square", "equal sizes", "dst %s, X %s", dst.Shape(), x.Shape())
	}
	dm, xm := dst.Host(), x.Host()
	return forRows(ctx, h, x.Rows, x.Cols, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dm.Row(i)
			for k, v := range xm.Row(i) {
				d[k] = v * v
			}
		}
	})
}

// SwapColumns exchanges columns i and j.
func SwapColumns[T Float](ctx context.Context, m *Resident[T], i, j int) error {
	h, err := host("dense.SwapColumns", m.Operand("M"))
	if err != nil {
		return err
	}
	if i < 0 || j < 0 || i >= m.Cols || j >= m.Cols {
		return shapeError("dense.SwapColumns", "columns of the matrix", "M %s, columns %d and %d", m.Shape(), i, j)
	}
	mm := m.Host()
	return forRows(ctx, h, m.Rows, 1, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			row := mm.Row(r)
			row[i], row[j] = row[j], row[i]
		}
	})
}

// RepeatDiagonal sets every row of dst to the diagonal of g.
func RepeatDiagonal[T Float](ctx context.Context, dst, g *Resident[T]) error {
	h, err := host("dense.RepeatDiagonal", dst.Operand("dst"), g.Operand("G"))
	if err != nil {
		return err
	}
	if g.Rows != g.Cols || dst.Cols != g.Cols {
		return shapeError("dense.RepeatDiagonal", "G square with one row per column of dst", "dst %s, G %s", dst.Shape(), g.Shape())
	}
	dm, gm := dst.Host(), g.Host()
	return forRows(ctx, h, dst.Rows, dst.Cols, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k, row := 0, dm.Row(i); k < len(row); k++ {
				row[k] = gm.At(k, k)
			}
		}
	})
}
