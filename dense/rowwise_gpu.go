package dense

import (
	"context"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// mapOnGPU runs a kernel that sets dst = f(x), element by element.
func mapOnGPU[T Float](ctx context.Context, l device.Launcher, kernel string, dst, x *Resident[T]) error {
	if x.Rows == 0 || x.Cols == 0 {
		return ctx.Err()
	}
	rows, cols, to, from := x.Rows, x.Cols, dst.Stride, x.Stride
	if to == cols && from == cols {
		rows, cols, to, from = rows*cols, 1, 1, 1 // no lane is left over at the end of a row
	}
	return launch[T](ctx, l, kernel, rowGrid(rows, cols),
		dst.Buf.Arg(), long(to), x.Buf.Arg(), long(from), long(rows), long(cols), device.Value(int32(lanesOf(cols))))
}

func repeatDiagonalOnGPU[T Float](ctx context.Context, l device.Launcher, dst, g *Resident[T]) error {
	if dst.Rows == 0 || dst.Cols == 0 {
		return ctx.Err()
	}
	return launch[T](ctx, l, kernels.Diagonal, rowGrid(dst.Rows, dst.Cols),
		dst.Buf.Arg(), long(dst.Stride), g.Buf.Arg(), long(g.Stride), long(dst.Rows), long(dst.Cols), device.Value(int32(lanesOf(dst.Cols))))
}

func shiftedQuotientOnGPU[T Float](ctx context.Context, l device.Launcher, dst, num, den *Resident[T], s *device.Buffer[T]) error {
	if dst.Rows == 0 || dst.Cols == 0 {
		return ctx.Err()
	}
	return launch[T](ctx, l, kernels.Quotient, rowGrid(dst.Rows, dst.Cols),
		dst.Buf.Arg(), long(dst.Stride), num.Buf.Arg(), long(num.Stride), den.Buf.Arg(), long(den.Stride), s.Arg(),
		long(dst.Rows), long(dst.Cols), device.Value(int32(lanesOf(dst.Cols))))
}

func copyColumnOnGPU[T Float](ctx context.Context, l device.Launcher, dst *Resident[T], j int, alpha T, src *Resident[T], i int) error {
	if dst.Rows == 0 {
		return ctx.Err()
	}
	return launch[T](ctx, l, kernels.CopyColumn, rowGrid(dst.Rows, 1),
		dst.ColumnRange(j, j+1).Buf.Arg(), long(dst.Stride), device.Value(alpha), src.ColumnRange(i, i+1).Buf.Arg(), long(src.Stride), long(dst.Rows))
}

func swapColumnsOnGPU[T Float](ctx context.Context, l device.Launcher, m *Resident[T], i, j int) error {
	if m.Rows == 0 {
		return ctx.Err()
	}
	return launch[T](ctx, l, kernels.SwapColumns, rowGrid(m.Rows, 1), m.Buf.Arg(), long(m.Stride), long(i), long(j), long(m.Rows))
}
