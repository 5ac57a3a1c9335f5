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
		kernel, err := pl.load(dev, kernels.Scale(dialect.TypeOf[T]()))
		if err != nil {
			return err
		}
		return kernel.Launch(blocks(nnz, kernels.Threads), kernels.Threads, 0, device.Value(nnz), device.Value(beta), p.Arg())
	}
	l, err := pl.pat.Launches()
	if err != nil {
		return err
	}
	v := kernels.NewGather(dialect.TypeOf[T](), a.Cols, a.Aligned() && b.Aligned())
	kernel, err := pl.load(dev, v.Variant())
	if err != nil {
		return err
	}
	return kernel.Launch(blocks(nnz, kernels.Run*v.Groups()), kernels.Threads, 0,
		device.Value(nnz), device.Value(int32(a.Cols)), device.Value(int32(f)), device.Value(alpha), device.Value(beta),
		pl.pat.RowPtr.Arg(), pl.pat.ColIdx.Arg(), l.Starts.Arg(), s.Arg(),
		a.Buf.Arg(), device.Value(int64(a.Stride)), b.Buf.Arg(), device.Value(int64(b.Stride)), p.Arg())
}

// Kernel names the kernel that Run launches for a and b on a GPU; it is empty on the CPU.
func (pl *Plan[T]) Kernel(a, b *dense.Resident[T]) string {
	if _, ok := pl.pat.Device().(device.Launcher); !ok {
		return ""
	}
	return kernels.NewGather(dialect.TypeOf[T](), a.Cols, a.Aligned() && b.Aligned()).Name()
}

// load returns a kernel on a device. Kernels are kept: to put a source together takes longer than to launch.
func (pl *Plan[T]) load(dev device.Launcher, v *dialect.Variant) (device.Kernel, error) {
	if k, ok := pl.kernels[v.Name]; ok {
		return k, nil
	}
	program, err := v.Program()
	if err != nil {
		return nil, err
	}
	k, err := dev.Kernel(program)
	if err != nil {
		return nil, err
	}
	if pl.kernels == nil {
		pl.kernels = map[string]device.Kernel{}
	}
	pl.kernels[v.Name] = k
	return k, nil
}

// blocks returns the number of blocks that do n things, each at a time.
func blocks(n, each int64) int64 { return (n + each - 1) / each }
