package sddmm

import (
	"fmt"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/tiling"
)

// SetTile makes all calls use panels of t.Tj columns, one after the other, and slices of t.Tk of K, a
// multiple of 512 bytes (128 elements, in double precision 64); 0 means not to cut. It changes speed and no bit of the
// results. Without SetTile the first calls for each K try the tiles that the model thinks best, and later calls use the fastest.
//
// On GPUs a tile of zeros is the scheme that gathers rows of B from L2, and any other one the scheme that keeps t.Tj
// popular columns at a time in shared memory, in slices of t.Tk of K and blocks of t.Ti rows, 0 for a choice; of the first t.Dense
// panels RunMixed makes all products, on tensor cores. The schemes add up in different orders. K that is no multiple of 16 bytes, and rows that do not start at
// multiples of them, are gathered in any case. Without SetTile the model chooses, or calls try tiles where Tune asks for it.
func (pl *Plan[T]) SetTile(t model.Tile) error {
	if _, ok := pl.pat.Device().(device.Launcher); ok {
		if err := pl.checkSharedTile(t); err != nil {
			return err
		}
		pl.tile = &t
		return nil
	}
	if t != (model.Tile{Tj: t.Tj, Tk: t.Tk}) || t.Tj < 0 || t.Tk < 0 || t.Tk%asm.SliceOf[T]() != 0 {
		return fmt.Errorf("sddmm: %d panels with tiles of %d rows, %d columns and %d of K; on a CPU want 0 rows, columns ≥ 0, a multiple of %d of K and 0 panels, for all", t.Panels, t.Ti, t.Tj, t.Tk, asm.SliceOf[T]())
	}
	if t.Tj > 0 {
		if _, err := pl.pat.Panels(t.Tj); err != nil {
			return err
		}
	}
	pl.tile = &t
	return nil
}

// Tile returns the tile of the next call with K = k (on a GPU that tunes, of the next with Dot), and whether the calls after it use the
// same: that is not settled before the first call, nor while calls try tiles.
func (pl *Plan[T]) Tile(k int) (tile model.Tile, settled bool) {
	if _, ok := pl.pat.Device().(device.Launcher); ok {
		return tileOnGPU[T, T](pl, k)
	}
	if pl.tile != nil {
		return *pl.tile, true
	}
	search, ok := pl.pat.Searched(model.SDDMM, k, int(unsafe.Sizeof(T(0))))
	if !ok {
		return model.Tile{}, false
	}
	tile, report := search.Next()
	return tile, report == nil
}

// MixedTile is Plan.Tile for calls of RunMixed.
func MixedTile[E device.Short](pl *Plan[float32], k int) (tile model.Tile, settled bool) {
	if _, ok := pl.pat.Device().(device.Launcher); ok {
		return tileOnGPU[float32, E](pl, k)
	}
	return pl.Tile(k)
}

// tileOnGPU is Tile for A and B of type E.
func tileOnGPU[T Float, E device.Real](pl *Plan[T], k int) (tile model.Tile, settled bool) {
	if !sharedDepth(dialect.TypeOf[E](), k) {
		return model.Tile{}, true
	}
	if pl.tile != nil {
		return *pl.tile, true
	}
	elem := int(unsafe.Sizeof(E(0)))
	if pl.tune {
		t := pl.tunings[tuneKey{k, elem}]
		if t == nil {
			return model.Tile{}, false
		}
		return t.due(Dot).tile, t.settled
	}
	c, ok := pl.pat.Chosen(model.SDDMM, k, elem)
	return c.Tile, ok
}

// segments runs the inner loop over the segments of one unit of a panel, whose rows of B are given.
func (r *hostRun[T]) segments(u tiling.PanelUnit, panels *tiling.Panels, b pattern.Columns[T]) {
	segs, cols := panels.Segments[u.SegLo:u.SegHi], panels.ColIdx[u.At:]
	if u.Slot >= 0 {
		r.kernels.SDDMM(r.out[u.Lo:u.Hi], r.in[u.Lo:u.Hi], r.a.Row(int(segs[0].Row)), b.Data, b.Stride, cols, r.op, r.alpha, r.beta)
		return
	}
	r.kernels.SDDMMSegments(r.out, r.in, r.rows(0), b.Data, b.Stride, cols, segs, r.op, r.alpha, r.beta)
}
