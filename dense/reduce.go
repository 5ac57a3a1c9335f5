package dense

import (
	"context"

	"sddmmkit/device"
)

// Dot returns Σ x_i·y_i, summed in float64 in an order that depends on the length alone.
func Dot[T Float](ctx context.Context, x, y *device.Buffer[T]) (float64, error) {
	h, l, err := on("dense.Dot", x.Operand("x"), y.Operand("y"))
	if err != nil {
		return 0, err
	}
	if x.Len() != y.Len() {
		return 0, shapeError("dense.Dot", "equal lengths", "x of %d, y of %d elements", x.Len(), y.Len())
	}
	if l != nil {
		return dotOnGPU(ctx, l, nil, x, y)
	}
	xs, ys := x.Host(), y.Host()
	return sumBlocks(ctx, h, len(xs), 1, func(lo, hi int) float64 {
		var s float64
		for i, v := range xs[lo:hi] {
			s += float64(v) * float64(ys[lo+i])
		}
		return s
	})
}

// Dot3 returns Σ w_i·x_i·y_i, summed like Dot.
func Dot3[T Float](ctx context.Context, w, x, y *device.Buffer[T]) (float64, error) {
	h, l, err := on("dense.Dot3", w.Operand("w"), x.Operand("x"), y.Operand("y"))
	if err != nil {
		return 0, err
	}
	if w.Len() != x.Len() || x.Len() != y.Len() {
		return 0, shapeError("dense.Dot3", "equal lengths", "w of %d, x of %d, y of %d elements", w.Len(), x.Len(), y.Len())
	}
	if l != nil {
		return dotOnGPU(ctx, l, w, x, y)
	}
	ws, xs, ys := w.Host(), x.Host(), y.Host()
	return sumBlocks(ctx, h, len(xs), 1, func(lo, hi int) float64 {
		var s float64
		for i, v := range xs[lo:hi] {
			s += float64(ws[lo+i]) * float64(v) * float64(ys[lo+i])
		}
		return s
	})
}

// WeightedNorm returns Σ_i w_i·‖X_i‖², summed in float64 in a fixed order; w has one element per row.
func WeightedNorm[T Float](ctx context.Context, x *Resident[T], w *device.Buffer[T]) (float64, error) {
	h, l, err := on("dense.WeightedNorm", x.Operand("X"), w.Operand("w"))
	if err != nil {
		return 0, err
	}
	if w.Len() != int64(x.Rows) {
		return 0, shapeError("dense.WeightedNorm", "one weight per row", "X %s, w of %d elements", x.Shape(), w.Len())
	}
	if l != nil {
		return weightedNormOnGPU(ctx, l, x, w)
	}
	xm, ws := x.Host(), w.Host()
	return sumBlocks(ctx, h, x.Rows, x.Cols, func(lo, hi int) float64 {
		var s float64
		for i := lo; i < hi; i++ {
			var n float64
			for _, v := range xm.Row(i) {
				n += float64(v) * float64(v)
			}
			s += float64(ws[i]) * n
		}
		return s
	})
}

// ColumnSums sets dst, 1×K, to the sums of the columns of X, M×K, summed in float64 in a fixed order.
func ColumnSums[T Float](ctx context.Context, dst, x *Resident[T]) error {
	h, l, err := on("dense.ColumnSums", dst.Operand("dst"), x.Operand("X"))
	if err != nil {
		return err
	}
	if dst.Rows != 1 || dst.Cols != x.Cols {
		return shapeError("dense.ColumnSums", "dst of one row with the columns of X", "dst %s, X %s", dst.Shape(), x.Shape())
	}
	if l != nil {
		return columnSumsOnGPU(ctx, l, dst, x)
	}
	xm := x.Host()
	sum, err := sumRows(ctx, h, x.Rows, x.Cols, func(sum []float64, i int) {
		for k, v := range xm.Row(i) {
			sum[k] += float64(v)
		}
	})
	if err != nil {
		return err
	}
	for k, row := 0, dst.Host().Row(0); k < len(row); k++ {
		row[k] = T(sum[k])
	}
	return nil
}
