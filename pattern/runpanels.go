package pattern

import (
	"context"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/tiling"
)

// RunPanels calls segments for the units of work of panels, one panel after the other, so that its rows of B stay in a cache, and beside
// these piece for the pieces of rows of that panel, if pieces has any. segments also gets the panel, and the rows of b of it, from its first one on;
// where b.Own says so they are a copy that the goroutine has made, of this panel alone, in memory that r keeps.
func RunPanels[T float32 | float64](ctx context.Context, host device.Host, r *Resident, panels *tiling.Panels, b Columns[T], segments func(panel int, u tiling.PanelUnit, rows Columns[T]), pieces [][]tiling.Unit, piece func(tiling.Unit)) error {
	var some []tiling.Unit
	var own *ownRows[T]
	if b.Own {
		own = newOwnRows(host, r, b, panels.Width)
	}
	for q := range panels.Count() {
		if pieces != nil {
			some = pieces[q]
		}
		work := panels.Units(q)
		rows := b.from(q * panels.Width)
		err := host.RunWorkers(ctx, len(some)+len(work), func(worker, unit int) {
			if unit < len(some) {
				piece(some[unit])
				return
			}
			mine := rows
			if own != nil {
				mine = own.of(worker, q, rows)
			}
			segments(q, work[unit-len(some)], mine)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// from returns the rows from the given one on.
func (c Columns[T]) from(row int) Columns[T] {
	c.Data = c.Data[min(row*c.Stride, len(c.Data)):]
	return c
}

// ownRows are copies of the rows of B of a panel, one for each goroutine. Each lies in the second cache of its core, and is written over for the
// next panel: the copying is up to a quarter of a call, but all that threads copy for each other goes from one's cache to the other's,
// which took 7 ns a line on a Zen 4 while its two threads were far apart (ADR 7).
type ownRows[T float32 | float64] struct {
	copies []ownCopy[T]
	rows   int // of B
	width  int // rows of a panel
}

// ownCopy is the copy of one goroutine.
type ownCopy[T float32 | float64] struct {
	Columns[T]
	panel int // that it is of, −1 for none
}

// newOwnRows returns nil where there is no memory.
func newOwnRows[T float32 | float64](host device.Host, r *Resident, b Columns[T], width int) *ownRows[T] {
	const page = 4 << 10 // so that copies share no line, nor the sets of a cache more than they must
	o := &ownRows[T]{rows: r.Cols, width: min(width, r.Cols)}
	stride, perPage := padded[T](b.Hi-b.Lo), page/int(unsafe.Sizeof(*new(T)))
	each := (o.width*stride + perPage - 1) / perPage * perPage
	memory := kept[T](r, &r.staged, int64(host.Threads())*int64(each))
	if memory == nil {
		return nil
	}
	for w := range host.Threads() {
		o.copies = append(o.copies, ownCopy[T]{Columns[T]{Lo: b.Lo, Hi: b.Hi, Data: memory[w*each:][:each], Stride: stride}, -1})
	}
	return o
}

// of returns a goroutine's copy of panel q, whose rows are given.
func (o *ownRows[T]) of(worker, q int, rows Columns[T]) Columns[T] {
	c := &o.copies[worker]
	if c.panel != q {
		c.copyFrom(rows, 0, min(o.width, o.rows-q*o.width))
		c.panel = q
	}
	return c.Columns
}
