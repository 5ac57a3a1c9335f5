package dense

import (
	"context"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// Square sets dst = x∘x, element by element. dst may be x.
func Square[T Float](ctx context.Context, dst, x *Resident[T]) error {
	h, l, err := on("dense.Square", dst.Operand("dst"), x.Operand("X"))
	if err != nil {
		return err
	}
	if dst.Rows != x.Rows || dst.Cols != x.Cols {
		return shapeError("dense.Square", "equal sizes", "dst %s, X %s", dst.Shape(), x.Shape())
	}
	if l != nil {
		return mapOnGPU(ctx, l, kernels.Square, dst, x)
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

// RepeatDiagonal sets every row of dst to the diagonal of g.
func RepeatDiagonal[T Float](ctx context.Context, dst, g *Resident[T]) error {
	h, l, err := on("dense.RepeatDiagonal", dst.Operand("dst"), g.Operand("G"))
	if err != nil {
		return err
	}
	if g.Rows != g.Cols || dst.Cols != g.Cols {
		return shapeError("dense.RepeatDiagonal", "G square with one row per column of dst", "dst %s, G %s", dst.Shape(), g.Shape())
	}
	if l != nil {
		return repeatDiagonalOnGPU(ctx, l, dst, g)
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

// ShiftedQuotient sets dst_ik = num_ik / (den_ik + s_i), and to zero where the denominator is zero: the
// solution of a least-squares problem in one unknown, of which a row without data has none. All three
// matrices are M×K, s has one element per row; dst may be num or den.
func ShiftedQuotient[T Float](ctx context.Context, dst, num, den *Resident[T], s *device.Buffer[T]) error {
	h, l, err := on("dense.ShiftedQuotient", dst.Operand("dst"), num.Operand("num"), den.Operand("den"), s.Operand("s"))
	if err != nil {
		return err
	}
	if num.Rows != dst.Rows || num.Cols != dst.Cols || den.Rows != dst.Rows || den.Cols != dst.Cols || s.Len() != int64(dst.Rows) {
		return shapeError("dense.ShiftedQuotient", "equal sizes, and one shift per row",
			"dst %s, num %s, den %s, s of %d elements", dst.Shape(), num.Shape(), den.Shape(), s.Len())
	}
	if l != nil {
		return shiftedQuotientOnGPU(ctx, l, dst, num, den, s)
	}
	to, nm, dm, shift := dst.Host(), num.Host(), den.Host(), s.Host()
	return forRows(ctx, h, dst.Rows, dst.Cols, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row, n := to.Row(i), nm.Row(i)
			for k, d := range dm.Row(i) {
				if d += shift[i]; d != 0 {
					row[k] = n[k] / d
				} else {
					row[k] = 0
				}
			}
		}
	})
}
