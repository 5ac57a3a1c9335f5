package sddmm

import (
	"fmt"

	"sddmmkit/internal/asm"
	"sddmmkit/tiling"
)

// Tile is a cut of the work into pieces that stay in cache: panels of columns, and slices of K.
type Tile struct {
	Columns int // T_j, columns of a panel; 0 means no panels
	Depth   int // T_k, a multiple of 128; 0 means all of K
}

func (t Tile) String() string {
	switch {
	case t.Columns == 0:
		return "none"
	case t.Depth == 0:
		return fmt.Sprintf("%d columns", t.Columns)
	}
	return fmt.Sprintf("%d columns × %d of K", t.Columns, t.Depth)
}

// SetTile makes all calls use t. It changes speed and no bit of the results.
func (pl *Plan[T]) SetTile(t Tile) error {
	if t.Columns < 0 || t.Depth < 0 || t.Depth%asm.Slice != 0 {
		return fmt.Errorf("sddmm: tile of %d columns and %d of K; want columns ≥ 0 and a multiple of %d", t.Columns, t.Depth, asm.Slice)
	}
	if t.Columns > 0 {
		if _, err := pl.pat.Panels(t.Columns); err != nil {
			return err
		}
	}
	pl.tile = &t
	return nil
}

// tileFor returns the tile for calls with k columns.
func (pl *Plan[T]) tileFor(k int) Tile {
	if pl.tile != nil {
		return *pl.tile
	}
	return Tile{}
}

// segments runs the inner loop over the segments of one unit of a panel, for columns [lo, hi) of A and B.
func (r *hostRun[T]) segments(u tiling.PanelUnit, all []tiling.Segment, lo, hi int, op asm.Op) {
	b := r.b.Data
	if len(b) > lo {
		b = b[lo:]
	}
	for _, s := range all[u.SegLo:u.SegHi] {
		from, to := s.Lo, s.Lo+int64(s.N)
		if u.Slot >= 0 {
			from, to = u.Lo, u.Hi
		}
		r.kernel(r.out[from:to], r.in[from:to], r.a.Row(int(s.Row))[lo:hi], b, r.b.Stride, r.colIdx[from:to], op, r.alpha, r.beta)
	}
}
