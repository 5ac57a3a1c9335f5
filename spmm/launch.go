package spmm

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern"
	"sddmmkit/spmm/kernels"
)

// launch is the path of devices that run kernels. pat is the pattern of op(S) and perm says where its values
// stand in s, nil for in order. It returns when the work is on the device's stream.
func launch[T Float, E device.Real](ctx context.Context, pl *Plan[T], dev device.Launcher, pat *pattern.Resident, perm *device.Buffer[int64], alpha T, s *device.Buffer[T], b *dense.Resident[E], beta T, c *dense.Resident[T]) error {
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
	if int64(b.Stride) > math.MaxUint32 {
		return fmt.Errorf("spmm.Run: rows of B are %d elements apart; a GPU takes less than 2^32", b.Stride)
	}
	v := gather(pat, b, c)
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
	kernel, err := pl.kernels.Load(dev, v.Variant())
	if err != nil {
		return err
	}
	slice := dialect.Blocks(p.Runs, v.Groups()) // blocks of a slice
	grid := slice * v.Slices(c.Cols)
	var more []device.Arg
	if v.Scheme == kernels.ByColumn {
		order, err := l.ByColumn(p.Run)
		if err != nil {
			return err
		}
		places := p.Runs * v.Slices(c.Cols)
		grid = min(dialect.Blocks(places, v.Groups()), int64(max(dev.Props().Units, 1)))
		apart, within, step := v.Places(pat.NNZ, places, grid)
		slice = p.Runs
		more = []device.Arg{order.Arg(), device.Value(int32(places)), device.Value(int32(apart)), device.Value(int32(within)), device.Value(int32(step))}
	}
	args := append([]device.Arg{
		device.Value(pat.NNZ), device.Value(int32(p.Run)), device.Value(int32(slice)), device.Value(int32(k)), device.Value(alpha), device.Value(beta),
		l.Starts.Arg(), pat.RowPtr.Arg(), pat.ColIdx.Arg(), perm.Arg(), s.Arg(),
		b.Buf.Arg(), device.Value(int64(b.Stride)), c.Buf.Arg(), device.Value(int64(c.Stride)), pl.scratch.Arg()}, more...)
	if err := kernel.Launch(grid, v.Threads(), 0, args...); err != nil {
		return err
	}
	if p.Count == 0 {
		return nil
	}
	w := v.Pieces()
	pieces, err := pl.kernels.Load(dev, w.Variant())
	if err != nil {
		return err
	}
	slice = dialect.Blocks(p.Count, w.Rows())
	return pieces.Launch(slice*w.Slices(c.Cols), kernels.Threads, 0,
		device.Value(p.Count), device.Value(int32(slice)), device.Value(int32(k)), device.Value(alpha), device.Value(beta),
		p.Rows.Arg(), pl.scratch.Arg(), c.Buf.Arg(), device.Value(int64(c.Stride)))
}

// gather returns the kernel for a pattern, that of op(S).
func gather[T Float, E device.Real](pat *pattern.Resident, b *dense.Resident[E], c *dense.Resident[T]) kernels.Gather {
	return kernels.NewGather(dialect.TypeOf[E](), kernels.Shape{Rows: pat.Rows, NNZ: pat.NNZ, K: c.Cols,
		Aligned: b.Aligned() && c.Aligned(), Lines: b.AlignedTo(kernels.Line), Threads: pat.Device().Props().BlockThreads})
}

// Kernel names the kernel that Run or RunMixed launches for b and c on a GPU, of several the one with the most work; it is empty on the
// CPU, and where the transpose cannot be made.
func Kernel[T Float, E device.Real](pl *Plan[T], op Op, b *dense.Resident[E], c *dense.Resident[T]) string {
	if _, ok := pl.pat.Device().(device.Launcher); !ok {
		return ""
	}
	pat, _, err := pl.index(op)
	if err != nil {
		return ""
	}
	return gather(pat, b, c).Name()
}
