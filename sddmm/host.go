package sddmm

import (
	"context"
	"time"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/tiling"
)

// hostRun is one call on the CPU: operands as slices, and the inner loop.
type hostRun[T Float] struct {
	rowPtr      []int64
	colIdx      []int32
	a           dense.Matrix[T]
	packed      bool               // the rows of A are a copy in which they follow each other
	b           pattern.Columns[T] // that are gathered
	in, out     []T                // values of S and P
	op          asm.Op
	alpha, beta T
	kernels     asm.Kernels[T]
}

// runHost is the CPU path.
func (pl *Plan[T]) runHost(ctx context.Context, host device.Host, f Epilogue, alpha T, s *device.Buffer[T], a, b *dense.Resident[T], beta T, p *device.Buffer[T]) error {
	whole := b.Host()
	r := hostRun[T]{
		rowPtr: pl.pat.RowPtr.Host(), colIdx: pl.pat.ColIdx.Host(),
		a: a.Host(), b: pattern.Columns[T]{Hi: whole.Cols, Data: whole.Data, Stride: whole.Stride}, out: p.Host(),
		op: asm.Op(f), alpha: alpha, beta: beta,
		kernels: asm.For[T](),
	}
	r.in = r.out // Dot does not look at it
	if s != nil {
		r.in = s.Host()
	}
	if beta != 0 {
		r.op |= asm.Beta
	}
	if alpha == 0 || a.Cols == 0 {
		return pl.runRows(ctx, host, &r)
	}
	if pl.tile != nil {
		return pl.runTile(ctx, host, &r, *pl.tile)
	}
	search, err := pl.pat.Search(ctx, model.SDDMM, a.Cols, int(unsafe.Sizeof(T(0))))
	if err != nil {
		return err
	}
	tile, report := search.Next()
	if tile.Tj > 0 { // panels are made before the clock starts
		if _, err := pl.pat.Panels(tile.Tj); err != nil {
			return err
		}
	}
	start := time.Now()
	err = pl.runTile(ctx, host, &r, tile)
	if report != nil && err == nil {
		report(time.Since(start).Seconds())
	}
	return err
}

// runTile goes over slices of K, one after the other, so that the rows of B of a slice stay in cache, with the partial sums in P
// (cuSDDMM, T_k of algorithm 3). The inner loop adds up in slices anyway, so that no tile changes a bit.
func (pl *Plan[T]) runTile(ctx context.Context, host device.Host, r *hostRun[T], tile model.Tile) error {
	k, rows := r.a.Cols, pl.pat.Cols // of B
	lastApart := model.LastApart(model.SDDMM, pl.pat.NNZ, rows, k, int(unsafe.Sizeof(T(0))))
	if r.beta != 0 || overlap(r.in, r.out) && r.op&3 != asm.Dot {
		tile.Tk, lastApart = 0, false // partial sums would overwrite values that are still needed
	}
	return pattern.Slices(ctx, pl.pat, r.b.Data, rows, k, r.b.Stride, tile, lastApart, func(slice ...pattern.Columns[T]) error {
		runs := make([]*hostRun[T], len(slice))
		for n, c := range slice {
			runs[n] = r.of(c)
		}
		if first, last := slice[0], slice[len(slice)-1]; first.Lo > 0 || last.Hi < k {
			if err := runs[0].pack(ctx, pl.pat, tile, first); err != nil {
				return err
			}
		}
		for _, run := range runs {
			run.op |= run.near(host, pl.pat, rows)
		}
		if tile.Tj > 0 {
			if err := pl.runPanels(ctx, host, runs[0], tile.Tj); err != nil {
				return err
			}
			runs = runs[1:]
		}
		return pl.runRows(ctx, host, runs...)
	})
}

// of returns the run for columns of A and B.
func (r *hostRun[T]) of(c pattern.Columns[T]) *hostRun[T] {
	s := *r
	s.a, s.b = r.a.Columns(c.Lo, c.Hi), c
	if c.Lo > 0 {
		s.op |= asm.Continue
	}
	if c.Hi < r.a.Cols {
		s.op |= asm.Partial
	}
	return &s
}

// pack has the rows of A of a slice follow each other where that pays, by a copy.
func (r *hostRun[T]) pack(ctx context.Context, pat *pattern.Resident, tile model.Tile, c pattern.Columns[T]) error {
	c.Data, c.Stride = r.a.Data, r.a.Stride
	room, ok, err := pattern.Packed(pat, tile, c)
	if !ok || err != nil {
		return err
	}
	r.a.Data, r.a.Stride, r.packed = room.Data, room.Stride, true
	return pattern.CopyRows(ctx, pat, room, c)
}

// runRows goes over the rows, all rows of a unit in one call of the inner loop for each run, one after the other while indices and values are
// near. It sees the column indices behind the unit too, so that it can fetch rows of B for the rows of A that follow.
func (pl *Plan[T]) runRows(ctx context.Context, host device.Host, runs ...*hostRun[T]) error {
	if len(runs) == 0 {
		return nil
	}
	units := pl.pat.Work.Units
	return host.Run(ctx, len(units), func(unit int) {
		u := units[unit]
		for _, r := range runs {
			p, s, cols := r.out[u.Lo:u.Hi], r.in[u.Lo:u.Hi], r.colIdx[u.Lo:]
			switch {
			case r.alpha == 0:
				scale(p, r.beta)
			case u.Lo == u.Hi: // and A may have no elements
			case u.Slot >= 0:
				r.kernels.SDDMM(p, s, r.a.Row(u.RowLo), r.b.Data, r.b.Stride, cols, r.op, r.alpha, r.beta)
			default:
				r.kernels.SDDMMRows(p, s, r.rows(u.RowLo), r.b.Data, r.b.Stride, cols, r.rowPtr[u.RowLo:u.RowHi+1], r.op, r.alpha, r.beta)
			}
		}
	})
}

// rows returns the rows of A from the given one on.
func (r *hostRun[T]) rows(from int) asm.Rows[T] {
	return asm.Rows[T]{Data: r.a.Data[min(from*r.a.Stride, len(r.a.Data)):], K: r.a.Cols, Stride: r.a.Stride}
}

// runPanels goes over panels of columns, one after the other, so that the rows of B that belong to a
// panel stay in cache while the rows of A go past.
func (pl *Plan[T]) runPanels(ctx context.Context, host device.Host, r *hostRun[T], width int) error {
	panels, err := pl.pat.Panels(width)
	if err != nil {
		return err
	}
	panel := *r
	panel.op |= r.near(host, pl.pat, min(width, pl.pat.Cols))
	return pattern.RunPanels(ctx, host, pl.pat, panels, r.b, func(_ int, u tiling.PanelUnit, b pattern.Columns[T]) { panel.segments(u, panels, b) }, nil, nil)
}

// near returns asm.Near where the given number of rows of B are near, and asm.Cached where whole rows of A
// stay in a shared one beside them: pieces of rows that lie a row apart are fetched early in any case.
func (r *hostRun[T]) near(host device.Host, pat *pattern.Resident, rows int) (op asm.Op) {
	const share = 4 // of which A takes one at most: there are the values, and other programs
	size := int(unsafe.Sizeof(T(0)))
	if !pat.Near(host, model.SDDMM, rows, r.b.RowBytes()) {
		return 0
	}
	op = asm.Near
	if (r.packed || r.op&(asm.Continue|asm.Partial) == 0) && int64(r.a.Rows)*int64(r.a.Stride)*int64(size) <= host.Props().L3Bytes/share {
		op |= asm.Cached
	}
	return op
}

// overlap reports whether x and y are the same memory.
func overlap[T Float](x, y []T) bool {
	return len(x) > 0 && len(y) > 0 && unsafe.SliceData(x) == unsafe.SliceData(y)
}

// scale sets p = β·p, and to zero for β = 0 whatever it held.
func scale[T Float](p []T, beta T) {
	if beta == 0 {
		clear(p)
		return
	}
	for j := range p {
		p[j] *= beta
	}
}
