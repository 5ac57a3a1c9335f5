package pattern

import (
	"context"
	"unsafe"

	"sddmmkit/device"
)

// Bounds of staging.
const (
	lineBytes  = 64       // the inner loops fetch lines of as many ahead
	stageReuse = 64       // non-zeros per row of B from which on copying it costs little
	stagePad   = 8        // a row may grow by one part in so many, for padding takes room in caches
	stageUnit  = 64 << 10 // bytes that one unit of work copies
)

// Stage returns rows of a dense matrix that operations on the CPU gather, so that they begin on cache lines: the
// matrix itself where they do, or where a copy would not pay, else a copy, with its stride. Row i is data[i·stride:][:cols]. A row
// that begins anywhere touches a line more, and vectors loaded from it lie across two: with rows of 31 floats that took a third longer. The
// copy holds until the next call or Close, in memory that r keeps; without memory there is none.
func Stage[T float32 | float64](ctx context.Context, r *Resident, data []T, rows, cols, stride int) ([]T, int, error) {
	padded := wholeLines[T](cols)
	if stride%wholeLines[T](1) == 0 || (padded-cols)*stagePad > cols || rows == 0 || r.NNZ/int64(rows) < stageReuse {
		return data, stride, nil
	}
	return StageSlice(ctx, r, data, rows, cols, stride)
}

// wholeLines rounds a number of elements up to whole cache lines.
func wholeLines[T float32 | float64](n int) int {
	perLine := lineBytes / int(unsafe.Sizeof(*new(T)))
	return (n + perLine - 1) / perLine * perLine
}

// StageSlice is Stage for a few columns of rows that are longer, and always copies: where slices lie a row apart they share few sets
// of a cache, and the memory for one slice after the other stays in it.
func StageSlice[T float32 | float64](ctx context.Context, r *Resident, data []T, rows, cols, stride int) ([]T, int, error) {
	host, ok := r.dev.(device.Host)
	if !ok || rows == 0 || cols == 0 {
		return data, stride, nil
	}
	padded := wholeLines[T](cols)
	to := staged[T](r, int64(rows)*int64(padded))
	if to == nil {
		return data, stride, nil
	}
	perUnit := max(stageUnit/(cols*int(unsafe.Sizeof(*new(T)))), 1)
	err := host.Run(ctx, (rows+perUnit-1)/perUnit, func(unit int) {
		for i := unit * perUnit; i < min((unit+1)*perUnit, rows); i++ {
			copy(to[i*padded:][:cols], data[i*stride:][:cols])
		}
	})
	return to, padded, err
}

// staged returns memory for n elements, or nil where there is none.
func staged[T float32 | float64](r *Resident, n int64) []T {
	b, ok := r.staged.(*device.Buffer[T])
	if !ok || b.Len() < n {
		if r.staged != nil {
			r.staged.Close()
			r.staged = nil
		}
		var err error
		if b, err = device.Alloc[T](r.dev, n); err != nil {
			return nil
		}
		r.staged = b
	}
	return b.Host()[:n]
}
