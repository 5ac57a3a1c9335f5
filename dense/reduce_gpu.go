package dense

import (
	"context"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// mostBlocks bounds the partial sums of a reduction. It is a constant, so that sums depend on sizes alone.
const mostBlocks = 1024

// totalOnGPU adds up what fill puts into part, one float64 per block.
func totalOnGPU(ctx context.Context, l device.Launcher, blocks int64, fill func(part *device.Buffer[float64]) error) (float64, error) {
	if blocks == 0 {
		return 0, ctx.Err()
	}
	work, err := device.Alloc[float64](l, 1+blocks)
	if err != nil {
		return 0, err
	}
	defer work.Close()
	if err := fill(work.View(1, 1+blocks)); err != nil {
		return 0, err
	}
	return total(ctx, l, work)
}

// total adds up all elements of work but the first, which it sets to the sum and copies to the host.
func total(ctx context.Context, l device.Launcher, work *device.Buffer[float64]) (float64, error) {
	sum, part := work.View(0, 1), work.View(1, work.Len())
	if err := launch[float64](ctx, l, kernels.Total, 1, sum.Arg(), part.Arg(), device.Value(part.Len())); err != nil {
		return 0, err
	}
	var s [1]float64
	err := sum.Download(s[:])
	return s[0], err
}

// dotOnGPU returns Σ x·y, or Σ w·x·y unless w is nil.
func dotOnGPU[T Float](ctx context.Context, l device.Launcher, w, x, y *device.Buffer[T]) (float64, error) {
	blocks := min(rowGrid(int(x.Len()), 1), mostBlocks)
	return totalOnGPU(ctx, l, blocks, func(part *device.Buffer[float64]) error {
		if w == nil {
			return launch[T](ctx, l, kernels.Dot, blocks, x.Arg(), y.Arg(), part.Arg(), device.Value(x.Len()))
		}
		return launch[T](ctx, l, kernels.Dot3, blocks, w.Arg(), x.Arg(), y.Arg(), part.Arg(), device.Value(x.Len()))
	})
}

func weightedNormOnGPU[T Float](ctx context.Context, l device.Launcher, x *Resident[T], w *device.Buffer[T]) (float64, error) {
	if x.Cols == 0 {
		return 0, ctx.Err()
	}
	blocks := min(rowGrid(x.Rows, x.Cols), mostBlocks)
	return totalOnGPU(ctx, l, blocks, func(part *device.Buffer[float64]) error {
		return launch[T](ctx, l, kernels.WeightedNorm, blocks,
			x.Buf.Arg(), long(x.Stride), w.Arg(), part.Arg(), long(x.Rows), long(x.Cols), device.Value(int32(lanesOf(x.Cols))))
	})
}

// columnSumsOnGPU sums columns over ranges of rows, and then adds up the ranges in order.
func columnSumsOnGPU[T Float](ctx context.Context, l device.Launcher, dst, x *Resident[T]) error {
	if x.Cols == 0 {
		return ctx.Err()
	}
	lanes := lanesOf(x.Cols)
	groups := ceil(x.Cols, lanes)
	splits, splitRows := split(x.Rows, rowsAtATime(x.Cols), int(max(mostBlocks/groups, 1)))
	return sumSplits(ctx, l, dst, splits, false, func(part *device.Buffer[float64]) error {
		return launch[T](ctx, l, kernels.ColumnSums, groups*splits,
			x.Buf.Arg(), long(x.Stride), part.Arg(), long(x.Rows), long(x.Cols), device.Value(int32(lanes)), long(splitRows))
	})
}
