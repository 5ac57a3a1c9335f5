package sddmm

import (
	"context"
	"fmt"
	"unsafe"

	"sddmmkit/internal/asm"
	"sddmmkit/model"
	"sddmmkit/tiling"
)

// SetTile makes all calls use panels of t.Tj columns, one after the other, and slices of t.Tk of K, a
// multiple of 128; 0 means not to cut. It changes speed and no bit of the results. Without SetTile the
// model chooses for each K at its first call, and the first calls try other slices.
func (pl *Plan[T]) SetTile(t model.Tile) error {
	if t.Ti != 0 || t.Tj < 0 || t.Tk < 0 || t.Tk%asm.Slice != 0 {
		return fmt.Errorf("sddmm: tile of %d rows, %d columns and %d of K; want 0 rows, columns ≥ 0 and a multiple of %d of K", t.Ti, t.Tj, t.Tk, asm.Slice)
	}
	if t.Tj > 0 {
		if _, err := pl.pat.Panels(t.Tj); err != nil {
			return err
		}
	}
	pl.tile = &t
	return nil
}

// Choice returns what the model takes for calls with K = k, and why.
func (pl *Plan[T]) Choice(ctx context.Context, k int) (model.Choice, error) {
	return pl.pat.Choose(ctx, model.SDDMM, k, int(unsafe.Sizeof(T(0))))
}

// Tile returns the tile of the next call with K = k, and whether the calls after it use the same: that
// is not settled before the first call, nor while calls try slices of K.
func (pl *Plan[T]) Tile(k int) (tile model.Tile, settled bool) {
	if pl.tile != nil {
		return *pl.tile, true
	}
	search, ok := pl.tuned[k]
	if !ok {
		return model.Tile{}, false
	}
	tile, report := search.next()
	return tile, report == nil
}

// tuning is the search for T_k of one K (cuSDDMM, algorithm 4, line 4): the first calls take turns in
// trying the candidates, and later ones use the fastest.
type tuning struct {
	candidates []model.Tile
	best       []float64 // seconds of each, the least of its turns
	turn       int
}

// turns is the number of times that each candidate is tried.
const turns = 2

// next returns the tile for the next call, and a function to report its time with, or nil when the
// search is over.
func (t *tuning) next() (model.Tile, func(seconds float64)) {
	n := len(t.candidates)
	if n == 1 || t.turn == n*turns {
		return t.candidates[t.fastest()], nil
	}
	i := t.turn % n
	return t.candidates[i], func(seconds float64) {
		if t.turn < n || seconds < t.best[i] {
			t.best[i] = seconds
		}
		t.turn++
	}
}

func (t *tuning) fastest() int {
	f := 0
	for i, s := range t.best {
		if s < t.best[f] {
			f = i
		}
	}
	return f
}

// tuningFor returns the search for K = k, made at the first call.
func (pl *Plan[T]) tuningFor(ctx context.Context, k int) (*tuning, error) {
	if t, ok := pl.tuned[k]; ok {
		return t, nil
	}
	c, err := pl.Choice(ctx, k)
	if err != nil {
		return nil, err
	}
	t := &tuning{candidates: []model.Tile{c.Tile}}
	for tk := asm.Slice; c.Tile.Tj > 0 && tk < k; tk *= 2 {
		if tk != c.Tile.Tk {
			t.candidates = append(t.candidates, model.Tile{Tj: c.Tile.Tj, Tk: tk})
		}
	}
	if c.Tile.Tk > 0 {
		t.candidates = append(t.candidates, model.Tile{Tj: c.Tile.Tj})
	}
	t.best = make([]float64, len(t.candidates))
	if pl.tuned == nil {
		pl.tuned = map[int]*tuning{}
	}
	pl.tuned[k] = t
	return t, nil
}

// segmentsAhead is the number of segments between the prefetch of a segment's values and its row of A and
// their use.
const segmentsAhead = 4

// segments runs the inner loop over the segments of one unit of a panel, for columns [lo, hi) of A and B.
func (r *hostRun[T]) segments(u tiling.PanelUnit, panels *tiling.Panels, lo, hi int, op asm.Op) {
	b := r.b.Data
	if len(b) > lo {
		b = b[lo:]
	}
	row := func(s tiling.Segment) []T { return r.a.Row(int(s.Row))[lo:hi] }
	segs, at := panels.Segments[u.SegLo:u.SegHi], u.At
	for g, s := range segs {
		from, to := s.Lo, s.Lo+int64(s.N)
		if u.Slot >= 0 {
			from, to = u.Lo, u.Hi
		}
		if g+segmentsAhead < len(segs) {
			next := segs[g+segmentsAhead]
			z := next.Lo + int64(next.N)
			asm.Prefetch(row(next), r.in[next.Lo:z], r.out[next.Lo:z])
		}
		r.kernel(r.out[from:to], r.in[from:to], row(s), b, r.b.Stride, panels.ColIdx[at:], op, r.alpha, r.beta)
		at += to - from
	}
}
