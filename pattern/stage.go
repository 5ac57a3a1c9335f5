package pattern

import (
	"context"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
)

// Bounds of staging.
const (
	lineBytes  = 64       // the inner loops fetch lines of as many ahead
	stageReuse = 64       // non-zeros per row of B from which on copying it costs little
	stagePad   = 8        // a row may grow by one part in so many, for padding takes room in caches
	stageUnit  = 64 << 10 // bytes that one unit of work copies
)

// Slices calls do for slices of the rows of a dense matrix that operations on the CPU gather, one after the other: columns [lo, hi) of
// them, as asm.SliceEnd cuts slices of depth columns, 0 for all, and the elements from one row to the next. Row i is
// data[i·stride:][:cols]. b is a copy where that pays, which the next slice and the next call write over, in memory that r keeps; without
// memory there is none.
//
// Slices are copied, for where they lie a row apart they share few sets of a cache, and the memory for one after the other stays
// in it. Whole rows are where they do not begin on cache lines and are read often: a row that begins anywhere touches a line
// more, and vectors loaded from it lie across two: with rows of 31 floats that took a third longer.
func Slices[T float32 | float64](ctx context.Context, r *Resident, data []T, rows, cols, stride, depth int, do func(lo, hi int, b []T, stride int) error) error {
	if depth <= 0 || depth > cols {
		depth = cols
	}
	for lo, hi := 0, 0; lo < cols; lo = hi {
		hi = asm.SliceEnd(lo+depth, cols)
		b, step := data[min(lo, len(data)):], stride
		if hi-lo < cols || copyPays[T](r, rows, cols, stride) {
			var err error
			if b, step, err = copyRows(ctx, r, b, rows, hi-lo, stride); err != nil {
				return err
			}
		}
		if err := do(lo, hi, b, step); err != nil {
			return err
		}
	}
	return nil
}

// copyPays reports whether whole rows are to be copied, so that they begin on cache lines.
func copyPays[T float32 | float64](r *Resident, rows, cols, stride int) bool {
	padded := wholeLines[T](cols)
	return stride%wholeLines[T](1) != 0 && (padded-cols)*stagePad <= cols && rows > 0 && r.NNZ/int64(rows) >= stageReuse
}

// wholeLines rounds a number of elements up to whole cache lines.
func wholeLines[T float32 | float64](n int) int {
	perLine := lineBytes / int(unsafe.Sizeof(*new(T)))
	return (n + perLine - 1) / perLine * perLine
}

// copyRows returns a copy of rows that begin on cache lines, and its stride, or the rows themselves where there is no memory.
func copyRows[T float32 | float64](ctx context.Context, r *Resident, data []T, rows, cols, stride int) ([]T, int, error) {
	host, ok := r.dev.(device.Host)
	if !ok || rows == 0 {
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
