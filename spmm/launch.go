package spmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern"
	"sddmmkit/spmm/kernels"
)

// launch is the path of devices that run kernels. pat is the pattern of op(S) and perm says where its values
// stand in s, nil for in order. It returns when the work is on the device's stream.
func (pl *Plan[T]) launch(ctx context.Context, dev device.Launcher, pat *pattern.Resident, perm *device.Buffer[int64], alpha T, s *device.Buffer[T], b *dense.Resident[T], beta T, c *dense.Resident[T]) error {
	if err := ctx.Err(); err != nil || c.Rows == 0 || c.Cols == 0 {
		return err
	}
	k, t := int64(c.Cols), dialect.TypeOf[T]()
	if alpha == 0 {
		scale, err := pl.kernels.Load(dev, kernels.Scale(t))
		if err != nil {
			return err
		}
		return scale.Launch(dialect.Blocks(int64(c.Rows)*k, kernels.Threads), kernels.Threads, 0,
			device.Value(int64(c.Rows)), device.Value(int32(k)), device.Value(beta), c.Buf.Arg(), device.Value(int64(c.Stride)))
	}
	v := kernels.NewGather(t, c.Cols, b.Aligned() && c.Aligned())
	l, err := pat.Launches()
	if err != nil {
		return err
	}
	p, err := pat.Pieces(v.Run(pat.NNZ))
	if err != nil {
		return err
	}
	if err := pl.reserve(2 * p.Runs * k); err != nil {
		return err
	}
	gather, err := pl.kernels.Load(dev, v.Variant())
	if err != nil {
		return err
	}
	slice := dialect.Blocks(p.Runs, v.Groups())
	if err := gather.Launch(slice*v.Slices(c.Cols), kernels.Threads, 0,
		device.Value(pat.NNZ), device.Value(int32(p.Run)), device.Value(slice), device.Value(int32(k)), device.Value(alpha), device.Value(beta),
		l.Starts.Arg(), pat.RowPtr.Arg(), pat.ColIdx.Arg(), perm.Arg(), s.Arg(),
		b.Buf.Arg(), device.Value(int64(b.Stride)), c.Buf.Arg(), device.Value(int64(c.Stride)), pl.scratch.Arg()); err != nil {
		return err
	}
	if p.Count == 0 {
		return nil
	}
	pieces, err := pl.kernels.Load(dev, kernels.Pieces(t))
	if err != nil {
		return err
	}
	return pieces.Launch(dialect.Blocks(p.Count*k, kernels.Threads), kernels.Threads, 0,
		device.Value(p.Count), device.Value(int32(k)), device.Value(alpha), device.Value(beta),
		p.Rows.Arg(), pl.scratch.Arg(), c.Buf.Arg(), device.Value(int64(c.Stride)))
}

// Kernel names the kernel that Run launches for b and c on a GPU; it is empty on the CPU.
func (pl *Plan[T]) Kernel(b, c *dense.Resident[T]) string {
	if _, ok := pl.pat.Device().(device.Launcher); !ok {
		return ""
	}
	return kernels.NewGather(dialect.TypeOf[T](), c.Cols, b.Aligned() && c.Aligned()).Name()
}
