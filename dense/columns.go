package dense

import (
	"context"
)

// CopyColumn sets column j of dst to α times column i of src. dst may be src.
func CopyColumn[T Float](ctx context.Context, dst *Resident[T], j int, alpha T, src *Resident[T], i int) error {
	h, l, err := on("dense.CopyColumn", dst.Operand("dst"), src.Operand("src"))
	if err != nil {
		return err
	}
	if dst.Rows != src.Rows || j < 0 || i < 0 || j >= dst.Cols || i >= src.Cols {
		return shapeError("dense.CopyColumn", "equal numbers of rows, and columns of the matrices",
			"column %d of dst %s, column %d of src %s", j, dst.Shape(), i, src.Shape())
	}
	if l != nil {
		return copyColumnOnGPU(ctx, l, dst, j, alpha, src, i)
	}
	dm, sm := dst.Host(), src.Host()
	return forRows(ctx, h, dst.Rows, 1, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			dm.Data[r*dm.Stride+j] = alpha * sm.Data[r*sm.Stride+i]
		}
	})
}

// SwapColumns exchanges columns i and j.
func SwapColumns[T Float](ctx context.Context, m *Resident[T], i, j int) error {
	h, l, err := on("dense.SwapColumns", m.Operand("M"))
	if err != nil {
		return err
	}
	if i < 0 || j < 0 || i >= m.Cols || j >= m.Cols {
		return shapeError("dense.SwapColumns", "columns of the matrix", "M %s, columns %d and %d", m.Shape(), i, j)
	}
	if l != nil {
		return swapColumnsOnGPU(ctx, l, m, i, j)
	}
	mm := m.Host()
	return forRows(ctx, h, m.Rows, 1, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			row := mm.Row(r)
			row[i], row[j] = row[j], row[i]
		}
	})
}
