package spmm

import (
	"context"
	"fmt"

	"sddmmkit/device"
	"sddmmkit/pattern"
)

// Tile is a cut of the work into pieces that stay in cache.
type Tile struct {
	Columns int // T_j, columns of op(S) in a panel, which are rows of B; 0 means no panels
}

func (t Tile) String() string {
	if t.Columns == 0 {
		return "none"
	}
	return fmt.Sprintf("%d columns", t.Columns)
}

// SetTile makes all calls use t. It changes speed and no bit of the results. K = 1 never uses a tile.
func (pl *Plan[T]) SetTile(t Tile) error {
	if t.Columns < 0 {
		return fmt.Errorf("spmm: tile of %d columns; want 0 or more", t.Columns)
	}
	pl.tile = &t
	return nil
}

// tileFor returns the tile for calls with k columns.
func (pl *Plan[T]) tileFor(k int) Tile {
	if k > 1 && pl.tile != nil {
		return *pl.tile
	}
	return Tile{}
}

// runPanels goes over panels of columns, one after the other, so that the rows of B that belong to a panel
// stay in cache while the rows of C go past. Each row of C still adds its non-zeros in order. Rows that
// the pattern's units cut into pieces are done in the same pieces, without panels: so no tile changes a
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
			r.piece(u.Slot, u.Lo, u.Hi)
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			if r.rowPtr[i] == r.rowPtr[i+1] || r.beta != 0 {
				scaleRow(r.c.Row(i), r.beta)
			}
		}
	})
	long := pat.UnitCost()
	for q := 0; q < panels.Count() && err == nil; q++ {
		work := panels.Work[panels.WorkStart[q]:panels.WorkStart[q+1]]
		err = host.Run(ctx, len(work), func(unit int) {
			u := work[unit]
			for _, s := range panels.Segments[u.SegLo:u.SegHi] {
				lo, hi := r.rowPtr[s.Row], r.rowPtr[s.Row+1]
				if hi-lo >= long || u.Slot >= 0 && u.Lo != s.Lo {
					continue // in pieces, or done whole with its first piece
				}
				end := s.Lo + int64(s.N)
				r.addRows(r.c.Row(int(s.Row)), s.Lo, end, end, r.beta == 0 && s.Lo == lo)
			}
		})
	}
	return err
}
