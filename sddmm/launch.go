package sddmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/sddmm/kernels"
)

// launch is the path of devices that run kernels. It returns when the work is on the device's stream.
func (pl *Plan[T]) launch(ctx context.Context, dev device.Launcher, f Epilogue, alpha T, s *device.Buffer[T], a, b *dense.Resident[T], beta T, p *device.Buffer[T]) error {
	if err := ctx.Err(); err != nil || pl.pat.NNZ == 0 {
		return err
	}
	nnz := pl.pat.NNZ
	if alpha == 0 {
		kernel, err := pl.kernels.Load(dev, kernels.Scale(dialect.TypeOf[T]()))
		if err != nil {
			return err
		}
		return kernel.Launch(dialect.Blocks(nnz, kernels.Threads), kernels.Threads, 0, device.Value(nnz), device.Value(beta), p.Arg())
	}
	scheme, err := pl.scheme(ctx, a, b)
	if err != nil {
		return err
	}
	call := &launchCall[T]{dev: dev, f: f, alpha: alpha, beta: beta, s: s, p: p, a: a, b: b}
	if scheme.shared != nil {
		return pl.launchShared(call, scheme)
	}
	l, err := pl.pat.Launches()
	if err != nil {
		return err
	}
	return pl.gather(call, nnz, pl.pat.RowPtr, pl.pat.ColIdx, l.Starts, nil)
}

// launchCall is one call on a device that runs kernels.
type launchCall[T Float] struct {
	dev         device.Launcher
	f           Epilogue
	alpha, beta T
	s, p        *device.Buffer[T]
	a, b        *dense.Resident[T]
}

// gather launches the kernel that reads rows of B from wherever they are cached, for a pattern whose non-zero j is
// value at[j], or value j without at.
func (pl *Plan[T]) gather(c *launchCall[T], nnz int64, rowPtr *device.Buffer[int64], colIdx, starts *device.Buffer[int32], at *device.Buffer[int64]) error {
	v := kernels.NewGather(dialect.TypeOf[T](), c.a.Cols, c.a.Aligned() && c.b.Aligned())
	kernel, err := pl.kernels.Load(c.dev, v.Variant())
	if err != nil {
		return err
	}
	run := v.Run(nnz)
	return kernel.Launch(dialect.Blocks(nnz, int64(run)*v.Groups()), kernels.Threads, 0,
		device.Value(nnz), device.Value(int32(run)), device.Value(int32(c.a.Cols)), device.Value(int32(c.f)), device.Value(c.alpha), device.Value(c.beta),
		rowPtr.Arg(), colIdx.Arg(), starts.Arg(), at.Arg(), c.s.Arg(),
		c.a.Buf.Arg(), device.Value(int64(c.a.Stride)), c.b.Buf.Arg(), device.Value(int64(c.b.Stride)), c.p.Arg())
}

// Kernel names the kernel that Run launches for a and b on a GPU, of several the one with the most work; it is empty on
// the CPU. It plans as Run does.
func (pl *Plan[T]) Kernel(a, b *dense.Resident[T]) string {
	if _, ok := pl.pat.Device().(device.Launcher); !ok {
		return ""
	}
	if s, err := pl.scheme(context.Background(), a, b); err == nil && s.shared != nil {
		return kernels.NewTile(dialect.TypeOf[T](), s.tile.Tk).Name()
	}
	return kernels.NewGather(dialect.TypeOf[T](), a.Cols, a.Aligned() && b.Aligned()).Name()
}
