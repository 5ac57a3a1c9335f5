package dense

import (
	"context"
	"unsafe"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
)

// launch puts a kernel for elements of type T on l's stream, unless ctx is done.
func launch[T Float](ctx context.Context, l device.Launcher, kernel string, grid int64, args ...device.Arg) error {
	return launchNamed(ctx, l, kernels.Name(kernel, int(unsafe.Sizeof(T(0)))), grid, args...)
}

// launchNamed puts the kernel of a full name on l's stream, unless ctx is done.
func launchNamed(ctx context.Context, l device.Launcher, name string, grid int64, args ...device.Arg) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := kernels.Program(name)
	if err != nil {
		return err
	}
	k, err := l.Kernel(p)
	if err != nil {
		return err
	}
	return k.Launch(grid, kernels.Threads, 0, args...)
}

// long is an integer as an argument of a kernel.
func long(n int) device.Arg { return device.Value(int64(n)) }

// lanesOf returns how many threads share a row: a power of two, up to a warp while each has at most
// Unroll elements, and up to a block where rows are longer. So passes over a row find it in the cache.
func lanesOf(cols int) int {
	n := 1
	for n < kernels.Threads && (n < cols && n < kernels.Warp || n*kernels.Unroll < cols) {
		n *= 2
	}
	return n
}

// vector returns the number of elements in the longest load.
func vector[T Float]() int { return dialect.VectorOf(dialect.TypeOf[T]()) }

// wide reports whether kernels for wide rows can read all matrices.
func wide[T Float](all ...*Resident[T]) bool {
	for _, m := range all {
		if !m.Aligned() || m.Cols%vector[T]() != 0 {
			return false
		}
	}
	return true
}

// rowsAtATime returns how many rows a block of a row-wise kernel takes at a time.
func rowsAtATime(cols int) int { return kernels.Threads / lanesOf(cols) * kernels.Unroll }

// rowGrid returns the blocks of a row-wise kernel.
func rowGrid(rows, cols int) int64 { return ceil(rows, rowsAtATime(cols)) }

func ceil(n, by int) int64 { return int64(n/by) + int64(min(n%by, 1)) }

// split cuts rows into at most parts ranges of equal length, but for the last: a multiple of step.
func split(rows, step, parts int) (splits int64, splitRows int) {
	steps := ceil(rows, step)
	each := max(ceil(int(steps), parts), 1)
	return ceil(int(steps), int(each)), int(each) * step
}
