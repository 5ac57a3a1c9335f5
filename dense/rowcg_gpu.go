package dense

import (
	"context"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// rowCGBlocks bounds the blocks of a step, each of which counts its rows that go on.
const rowCGBlocks = 4096

// startOnGPU is Start.
func (cg *RowCG[T]) startOnGPU(ctx context.Context, l device.Launcher, tol float64) (int64, error) {
	kernel, _ := rowCGKernels(cg.wide(), cg.X.Cols)
	return cg.countOnGPU(ctx, l, func(blocks int64, part, lanes device.Arg) error {
		return launch[T](ctx, l, kernel, blocks,
			cg.X.Buf.Arg(), long(cg.X.Stride), cg.R.Buf.Arg(), long(cg.R.Stride), cg.P.Buf.Arg(), long(cg.P.Stride), cg.D.Buf.Arg(), long(cg.D.Stride),
			cg.Shift.Arg(), cg.rz.Arg(), cg.stop.Arg(), part, device.Value(tol), long(cg.X.Rows), long(cg.X.Cols), lanes)
	})
}

// stepOnGPU is Step.
func (cg *RowCG[T]) stepOnGPU(ctx context.Context, l device.Launcher) (int64, error) {
	_, kernel := rowCGKernels(cg.wide(), cg.X.Cols)
	return cg.countOnGPU(ctx, l, func(blocks int64, part, lanes device.Arg) error {
		return launch[T](ctx, l, kernel, blocks,
			cg.X.Buf.Arg(), long(cg.X.Stride), cg.R.Buf.Arg(), long(cg.R.Stride), cg.P.Buf.Arg(), long(cg.P.Stride), cg.Q.Buf.Arg(), long(cg.Q.Stride),
			cg.D.Buf.Arg(), long(cg.D.Stride), cg.Shift.Arg(), cg.rz.Arg(), cg.stop.Arg(), part, long(cg.X.Rows), long(cg.X.Cols), lanes)
	})
}

// wide reports whether kernels for wide rows take the rows: those that a block holds at one load a thread.
func (cg *RowCG[T]) wide() bool {
	return wide(cg.X, cg.R, cg.P, cg.Q, cg.D) && wideEnough[T](cg.X.Cols)
}

func wideEnough[T Float](cols int) bool { return cols <= kernels.Threads*vector[T]() }

// rowCGKernels returns the kernels of Start and Step.
func rowCGKernels(wide bool, cols int) (start, step string) {
	switch {
	case wide:
		return kernels.RowCGStartWide, kernels.RowCGStepWide
	case cols > kernels.Unroll*kernels.Threads:
		return kernels.RowCGStart, kernels.RowCGStepLong
	}
	return kernels.RowCGStart, kernels.RowCGStep
}

// countOnGPU runs a kernel over the rows and returns the total of what its blocks count: all that comes to the host. As
// many threads share a row as hold all of it, where a block is enough; sums of Start and Step have one order.
func (cg *RowCG[T]) countOnGPU(ctx context.Context, l device.Launcher, run func(blocks int64, part, lanes device.Arg) error) (int64, error) {
	if cg.X.Rows == 0 || cg.X.Cols == 0 {
		return 0, ctx.Err()
	}
	lanes, n := 1, kernels.Unroll // elements that a thread has at a time
	if cg.wide() {
		n = vector[T]()
	}
	for lanes < kernels.Threads && lanes*n < cg.X.Cols {
		lanes *= 2
	}
	blocks := min(ceil(cg.X.Rows, kernels.Threads/lanes), rowCGBlocks)
	if err := run(blocks, cg.count.View(1, 1+blocks).Arg(), device.Value(int32(lanes))); err != nil {
		return 0, err
	}
	active, err := total(ctx, l, cg.count.View(0, 1+blocks))
	return int64(active), err
}
