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
