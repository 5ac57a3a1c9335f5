package pattern

import (
	"context"
	"slices"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
)

// Bounds of staging.
const (
	lineBytes = 64       // the inner loops fetch lines of as many ahead
	stagePad  = 8        // a row may grow by one part in so many, for padding takes room in caches
	stageUnit = 64 << 10 // bytes that one unit of work copies
	copyAhead = 4 << 10  // bytes between the fetch of a row and its copy
)

// Columns are columns [Lo, Hi) of a dense matrix: those of row i are Data[i·Stride:][:Hi−Lo].
type Columns[T float32 | float64] struct {
	Lo, Hi int
	Data   []T
	Stride int
	Own    bool // where they are gathered panel by panel, each goroutine is to copy those of a panel for itself: see RunPanels
}

// RowBytes returns how far apart rows lie where they are gathered.
func (c Columns[T]) RowBytes() int {
	stride := c.Stride
	if c.Own {
		stride = padded[T](c.Hi - c.Lo)
	}
	return stride * int(unsafe.Sizeof(*new(T)))
}

// Slices calls do for slices of the rows of a dense matrix that operations on the CPU gather, one after the other, as asm.SliceEnd cuts
// slices of tile.Tk columns, 0 for all. Row i is data[i·stride:][:cols]. With lastApart the last column is one by itself, and do gets it
// behind the slice before it. All may be copies where that pays, which the next slice and the next call write over, in memory that r
// keeps; without memory there are none.
//
// Slices are copied, for where they lie a row apart they share few sets of a cache, and the memory for one after the other stays
// in it. Whole rows are where they do not begin on cache lines and are read often: a row that begins anywhere touches a line
// more, and vectors loaded from it lie across two: with rows of 31 floats that took a third longer. And so are rows whose last element is
// apart (model.LastApart), for then they end on lines too. Slices that RunPanels is to copy panel by panel (Columns.Own) are not.
func Slices[T float32 | float64](ctx context.Context, r *Resident, data []T, rows, cols, stride int, tile model.Tile, lastApart bool, do func(slice ...Columns[T]) error) error {
	depth := tile.Tk
	if depth <= 0 || depth > cols {
		depth = cols
	}
	for lo, hi := 0, 0; lo < cols; lo = hi {
		hi = asm.SliceEnd(lo+depth, cols)
		slice := []Columns[T]{{Lo: lo, Hi: hi, Data: data[min(lo, len(data)):], Stride: stride}}
		if lastApart && hi == cols && hi-lo > 1 {
			slice[0].Hi--
			slice = append(slice, Columns[T]{Lo: hi - 1, Hi: hi, Data: data[min(hi-1, len(data)):], Stride: stride})
		}
		if hi-lo < cols && r.ownCopies(tile.Tj, padded[T](hi-lo)*int(unsafe.Sizeof(*new(T)))) {
			slice[0].Own = true
		} else if len(slice) > 1 || hi-lo < cols || copyPays[T](r, rows, cols, stride) {
			if err := stageColumns(ctx, r, rows, slice); err != nil {
				return err
			}
		}
		if err := do(slice...); err != nil {
			return err
		}
	}
	return nil
}

// copyPays reports whether whole rows are to be copied, so that they begin on cache lines: where there is little padding, or where a row
// lies in one line for it and all of them still in half of a private cache. Narrow ones are loaded fastest where they follow each other.
func copyPays[T float32 | float64](r *Resident, rows, cols, stride int) bool {
	to, line := padded[T](cols), wholeLines[T](1)
	if stride%min(to, line) == 0 || rows == 0 || r.NNZ/int64(rows) < model.OftenRead {
		return false
	}
	if (to-cols)*stagePad <= cols {
		return true
	}
	host, ok := r.dev.(device.Host)
	return ok && to <= line && 2*cols > to && cols > asm.Narrow && 2*int64(rows)*int64(to)*int64(unsafe.Sizeof(*new(T))) <= host.Props().L2Bytes
}

// ownCopies reports whether each goroutine copies slices of rows of B, of rowBytes bytes, panel by panel for itself, as model.OwnCopies says.
func (r *Resident) ownCopies(panel, rowBytes int) bool {
	host, ok := r.dev.(device.Host)
	return ok && panel > 0 && model.OwnCopies(r.NNZ, r.Cols, min(panel, r.Cols), rowBytes, host.Threads(), host.Props().L2Bytes, r.Work.Slots > 0)
}

// copiedBytes returns how much memory copies of the slices of a tile take.
func (r *Resident) copiedBytes(tile model.Tile, elemBytes int) int64 {
	row, rows := int64(tile.Tk)*int64(elemBytes), int64(r.Cols)
	if r.ownCopies(tile.Tj, int(row)) {
		rows = int64(min(tile.Tj, r.Cols)) * int64(r.threads())
	}
	return rows * row
}

// padded returns the stride of copied rows of so many columns: whole lines, or half of one.
func padded[T float32 | float64](cols int) int {
	if half := wholeLines[T](1) / 2; cols <= half {
		return half
	}
	return wholeLines[T](cols)
}

// wholeLines rounds a number of elements up to whole cache lines.
func wholeLines[T float32 | float64](n int) int {
	perLine := lineBytes / int(unsafe.Sizeof(*new(T)))
	return (n + perLine - 1) / perLine * perLine
}

// stageColumns puts copies in the place of columns, unless there is no memory. Their rows begin on cache lines, but those of a single
// column follow each other.
func stageColumns[T float32 | float64](ctx context.Context, r *Resident, rows int, columns []Columns[T]) error {
	host, ok := r.dev.(device.Host)
	if !ok || rows == 0 {
		return nil
	}
	copies := slices.Clone(columns)
	elems := 0
	for n, c := range columns {
		if copies[n].Stride = c.Hi - c.Lo; c.Hi-c.Lo > 1 {
			copies[n].Stride = padded[T](c.Hi - c.Lo)
		}
		elems += copies[n].Stride
	}
	memory := kept[T](r, &r.staged, int64(rows)*int64(elems))
	if memory == nil {
		return nil
	}
	for n, c := range copies {
		copies[n].Data, memory = memory[:rows*c.Stride], memory[rows*c.Stride:]
	}
	err := copyAll(ctx, host, rows, copies, columns)
	copy(columns, copies)
	return err
}

// copyAll copies all rows, those of each unit of work from all columns.
func copyAll[T float32 | float64](ctx context.Context, host device.Host, rows int, to, from []Columns[T]) error {
	elems := 0
	for _, c := range to {
		elems += c.Hi - c.Lo
	}
	perUnit := max(stageUnit/(max(elems, 1)*int(unsafe.Sizeof(*new(T)))), 1)
	return host.Run(ctx, (rows+perUnit-1)/perUnit, func(unit int) {
		for n := range to {
			to[n].copyFrom(from[n], unit*perUnit, min((unit+1)*perUnit, rows))
		}
	})
}

// copyFrom copies rows [lo, hi).
func (c Columns[T]) copyFrom(from Columns[T], lo, hi int) {
	width := c.Hi - c.Lo
	if width > 1 {
		ahead := copyAhead/(width*int(unsafe.Sizeof(*new(T)))) + 1
		for i := lo; i < hi; i++ {
			if i+ahead < hi {
				asm.Prefetch(from.Data[(i+ahead)*from.Stride:][:width])
				asm.Prefetch(c.Data[(i+ahead)*c.Stride:][:width])
			}
			copy(c.Data[i*c.Stride:][:width], from.Data[i*from.Stride:])
		}
		return
	}
	for i := lo; i < hi; i++ { // a call of copy for each took as long as the rest of the row
		c.Data[i*c.Stride] = from.Data[i*from.Stride]
	}
}

// buffer is a *device.Buffer of any type.
type buffer interface {
	Memory() (mem device.Memory, first int64)
	Close() error
}

// bytesOf returns how much memory there is.
func bytesOf(b buffer) int64 {
	if b == nil {
		return 0
	}
	mem, _ := b.Memory()
	return mem.Bytes()
}

// kept returns memory for n elements, which r keeps in b, or nil where there is none.
func kept[T float32 | float64](r *Resident, b *buffer, n int64) []T {
	have, ok := (*b).(*device.Buffer[T])
	if !ok || have.Len() < n {
		if *b != nil {
			(*b).Close()
			*b = nil
		}
		var err error
		if have, err = device.Alloc[T](r.dev, n); err != nil {
			return nil
		}
		*b = have
	}
	return have.Host()[:n]
}
