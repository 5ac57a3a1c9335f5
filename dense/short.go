package dense

import (
	"context"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/internal/parallel"
)

// Rounded returns a copy of m in 16 bits, each element rounded to nearest with ties to even, with Stride = Cols.
func Rounded[E device.Short](m Matrix[float32]) Matrix[E] {
	out := New[E](m.Rows, m.Cols)
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) { roundRows(out, m, int(lo), int(hi)) })
	return out
}

// Widened returns a copy of m in float32, exactly, with Stride = Cols.
func Widened[E device.Short](m Matrix[E]) Matrix[float32] {
	out := New[float32](m.Rows, m.Cols)
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) { widenRows(out, m, int(lo), int(hi)) })
	return out
}

func roundRows[E device.Short](dst Matrix[E], x Matrix[float32], lo, hi int) {
	for i := lo; i < hi; i++ {
		d := dst.Row(i)
		for k, v := range x.Row(i) {
			d[k] = device.ToShort[E](v)
		}
	}
}

func widenRows[E device.Short](dst Matrix[float32], x Matrix[E], lo, hi int) {
	for i := lo; i < hi; i++ {
		d := dst.Row(i)
		for k, v := range x.Row(i) {
			d[k] = v.Float32()
		}
	}
}

// Round sets dst = x, each element rounded to nearest with ties to even. NaN stays NaN, and what is too large for a Float16
// becomes infinite.
func Round[E device.Short](ctx context.Context, dst *Resident[E], x *Resident[float32]) error {
	h, l, err := onEqual("dense.Round", dst, x)
	if err != nil {
		return err
	}
	if l != nil {
		return convertOnGPU(ctx, l, kernels.Round(dialect.TypeOf[E]()), dst, x)
	}
	return forRows(ctx, h, x.Rows, x.Cols, func(_, lo, hi int) { roundRows(dst.Host(), x.Host(), lo, hi) })
}

// Widen sets dst = x, exactly.
func Widen[E device.Short](ctx context.Context, dst *Resident[float32], x *Resident[E]) error {
	h, l, err := onEqual("dense.Widen", dst, x)
	if err != nil {
		return err
	}
	if l != nil {
		return convertOnGPU(ctx, l, kernels.Widen(dialect.TypeOf[E]()), dst, x)
	}
	return forRows(ctx, h, x.Rows, x.Cols, func(_, lo, hi int) { widenRows(dst.Host(), x.Host(), lo, hi) })
}

// onEqual is on for a matrix and one of the same size.
func onEqual[D, X device.Real](op string, dst *Resident[D], x *Resident[X]) (device.Host, device.Launcher, error) {
	h, l, err := on(op, dst.Operand("dst"), x.Operand("X"))
	if err == nil && (dst.Rows != x.Rows || dst.Cols != x.Cols) {
		err = shapeError(op, "equal sizes", "dst %s, X %s", dst.Shape(), x.Shape())
	}
	return h, l, err
}

func convertOnGPU[D, X device.Real](ctx context.Context, l device.Launcher, kernel string, dst *Resident[D], x *Resident[X]) error {
	if x.Rows == 0 || x.Cols == 0 {
		return ctx.Err()
	}
	return launchNamed(ctx, l, kernel, rowGrid(x.Rows, x.Cols),
		dst.Buf.Arg(), long(dst.Stride), x.Buf.Arg(), long(x.Stride), long(x.Rows), long(x.Cols), device.Value(int32(lanesOf(x.Cols))))
}
