package spmm

import (
	"context"
	"fmt"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/tiling"
)

// SetTile makes all calls use panels of t.Tj columns of op(S), one after the other, and slices of t.Tk of K, a
// multiple of 512 bytes (128 elements, in double precision 64); 0 means not to cut. It changes speed and no bit of the
// results. Without SetTile the first calls for each K try the tiles that the model thinks best, and later calls use the
// fastest. K ≤ 4 never uses a tile, for then a row of C is not summed in the order of its non-zeros.
func (pl *Plan[T]) SetTile(t model.Tile) error {
	if t != (model.Tile{Tj: t.Tj, Tk: t.Tk}) || t.Tj < 0 || t.Tk < 0 || t.Tk%asm.SliceOf[T]() != 0 {
		return fmt.Errorf("spmm: %d panels with tiles of %d rows, %d columns and %d of K; want 0 rows, columns ≥ 0, a multiple of %d of K and 0 panels", t.Panels, t.Ti, t.Tj, t.Tk, asm.SliceOf[T]())
	}
	pl.tile = &t
	return nil
}

// Tile returns the tile of the next call with K = k, and whether the calls after it use the same: that
// is not settled before the first call, nor while calls try tiles.
func (pl *Plan[T]) Tile(op Op, k int) (tile model.Tile, settled bool) {
	if k <= asm.Narrow {
		return model.Tile{}, true
	}
	if pl.tile != nil {
		return *pl.tile, true
	}
	pat, kind, err := pl.side(op)
	if err != nil {
		return model.Tile{}, false
	}
	search, ok := pat.Searched(kind, k, int(unsafe.Sizeof(T(0))))
	if !ok {
		return model.Tile{}, false
	}
	tile, report := search.Next()
	return tile, report == nil
}

// side returns the index that op goes over.
func (pl *Plan[T]) side(op Op) (*pattern.Resident, model.Op, error) {
	if op == NoTrans {
		return pl.pat, model.SpMM, nil
	}
	t, err := pl.pat.Transpose()
	if err != nil {
		return nil, 0, err
	}
	return &t.Resident, model.SpMMT, nil
}

// nextTile returns the tile for a call with k columns, and a function that takes the seconds of the call, or
// nil.
func (pl *Plan[T]) nextTile(ctx context.Context, op Op, k int) (model.Tile, func(float64), error) {
	switch {
	case k <= asm.Narrow:
		return model.Tile{}, nil, nil
	case pl.tile != nil:
		return *pl.tile, nil, nil
	}
	pat, kind, err := pl.side(op)
	if err != nil {
		return model.Tile{}, nil, err
	}
	search, err := pat.Search(ctx, kind, k, int(unsafe.Sizeof(T(0))))
	if err != nil {
		return model.Tile{}, nil, err
	}
	tile, report := search.Next()
	if tile.Tj > 0 { // panels are made before the clock starts
		if _, err := pat.Panels(tile.Tj); err != nil {
			return model.Tile{}, nil, err
		}
	}
	return tile, report, nil
}

// runPanels goes over panels of columns, one after the other, so that the rows of B that belong to a panel
// stay in cache while the rows of C go past. Each row of C still adds its non-zeros in order. Rows that
// the pattern's units cut into pieces are done in the same pieces, each with the panel that it begins in: so no tile changes a
// bit.
func (r *hostRun[T]) runPanels(ctx context.Context, host device.Host, pat *pattern.Resident, width int) error {
	panels, err := pat.Panels(width)
	if err != nil {
		return err
	}
	units := pat.Work.Units
	err = host.Run(ctx, len(units), func(unit int) {
		u := units[unit]
		if u.Slot >= 0 {
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			if r.rowPtr[i] == r.rowPtr[i+1] || r.beta != 0 {
				scaleRow(r.c.Row(i), r.beta)
			}
		}
	})
	if err != nil {
		return err
	}
	long, near := pat.UnitCost(), r.near(host, pat, min(width, pat.Cols))
	segments := func(q int, u tiling.PanelUnit, b pattern.Columns[T]) { r.segments(q, u, panels, b, long, near) }
	piece := func(u tiling.Unit) { r.piece(u.Slot, u.Lo, u.Hi, r.collected()) }
	return pattern.RunPanels(ctx, host, pat, panels, r.b[0], segments, r.pieces(pat, panels), piece)
}

// pieces returns the pieces of rows that begin in each panel; nil where no row is in pieces.
func (r *hostRun[T]) pieces(pat *pattern.Resident, panels *tiling.Panels) [][]tiling.Unit {
	if pat.Work.Slots == 0 {
		return nil
	}
	begin := make([][]tiling.Unit, panels.Count())
	for _, u := range pat.Work.Units {
		if u.Slot >= 0 {
			q := int(r.cols[u.Lo]) / panels.Width
			begin[q] = append(begin[q], u)
		}
	}
	return begin
}

// segments adds the segments of one unit of panel q to their rows of C, but for rows of at least long
// non-zeros, which are done in pieces. b are the panel's rows of B.
func (r *hostRun[T]) segments(q int, u tiling.PanelUnit, panels *tiling.Panels, b pattern.Columns[T], long int64, near bool) {
	collected := r.collected()
	segs, at := panels.Segments[u.SegLo:u.SegHi], u.At
	if u.Slot >= 0 && u.Lo != segs[0].Lo {
		return // done whole with its first piece
	}
	if r.fused() {
		last := r.b[1].Data[q*panels.Width:]
		r.kernels.SpMMSegmentsLast(r.rows(0), r.val, b.Data, b.Stride, last, panels.ColIdx[at:], segs, r.rowPtr, long, r.alpha, r.beta == 0, near)
		return
	}
	if collected == nil {
		r.kernels.SpMMSegments(r.output(0, r.b[0]), r.val, b.Data, b.Stride, panels.ColIdx[at:], segs, r.rowPtr, long, r.alpha, r.beta == 0, near)
		return
	}
	for g, s := range segs {
		if g+asm.RowsAhead < len(segs) {
			asm.Prefetch(r.c.Row(int(segs[g+asm.RowsAhead].Row)))
		}
		if lo := r.rowPtr[s.Row]; r.rowPtr[s.Row+1]-lo < long {
			r.addColumns(r.c.Row(int(s.Row)), b, panels.ColIdx[at:], s.Lo, s.Lo+int64(s.N), r.beta == 0 && s.Lo == lo, collected)
		}
		at += int64(s.N)
	}
}
