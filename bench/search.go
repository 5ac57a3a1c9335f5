package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unsafe"

	"sddmmkit/bench/record"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
)

// searcher is what a search differs in between devices.
type searcher[T sddmm.Float] struct {
	op      *operation[T]                                    // whose tile the search sets
	plan    func(*pattern.Resident) (*operation[T], error)   // makes a plan for a new pattern
	predict func(model.Tile) float64                         // seconds
	try     func(t *tournament, keep ...model.Tile) error    // enters tiles and has rounds
	ready   func(ctx context.Context, tile model.Tile) error // makes what calls with a tile need, before the clock starts
}

// searchOnCPU tries panels of columns, and slices of K.
func (s *Session[T]) searchOnCPU(ctx context.Context, p *problem[T]) (rec *record.Record, err error) {
	pat, err := s.pattern(p.c.Op)
	if err != nil {
		return nil, err
	}
	machine := s.opt.Machine
	if machine == nil {
		if machine, err = Machine(ctx, s.dev); err != nil {
			return nil, err
		}
	}
	op, err := ours(s.dev, p, s.pat, Tiling{By: TileGiven})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, op.close()) }()
	rec, best, err := s.search(ctx, p, pat, searcher[T]{
		op:      op,
		plan:    func(pat *pattern.Resident) (*operation[T], error) { return ours(s.dev, p, pat, Tiling{}) },
		predict: func(tile model.Tile) float64 { return s.predict(machine, p, tile) },
		try: func(t *tournament, keep ...model.Tile) error {
			return t.run(gathered(p.m, p.c), model.Depths(p.c.K, int(unsafe.Sizeof(T(0)))), keep...)
		},
		ready: func(_ context.Context, tile model.Tile) error {
			if tile.Tj == 0 {
				return nil
			}
			_, err := pat.Panels(tile.Tj)
			return err
		},
	})
	if err == nil {
		s.bound(rec, p, best)
	}
	return rec, err
}

// searchOnGPU tries gathering and, for SDDMM, panels of popular columns in shared memory, on operands in place.
func (s *Session[T]) searchOnGPU(ctx context.Context, p *problem[T], o *Placed[T]) (rec *record.Record, err error) {
	op, err := withPlan(p, o, Tiling{By: TileGiven})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, op.close()) }()
	op.varies = true // schemes add up in different orders
	elem := p.elemBytes()
	choice, err := o.Pattern.Choose(ctx, modelOps[p.c.Op], p.c.K, elem)
	if err != nil {
		return nil, err
	}
	var tiles []model.Tile
	if p.c.Op == SDDMM {
		if tiles, err = o.Pattern.SharedTiles(p.c.K, elem); err != nil {
			return nil, err
		}
	}
	rec, _, err = s.search(ctx, p, o.Pattern, searcher[T]{
		op: op,
		plan: func(pat *pattern.Resident) (*operation[T], error) {
			with := *o
			with.Pattern = pat
			return withPlan(p, &with, Tiling{})
		},
		predict: func(tile model.Tile) float64 {
			for _, a := range choice.Alternatives {
				if a.Tile == tile {
					return a.Seconds
				}
			}
			return 0 // the model has one number of panels for each width
		},
		try:   func(t *tournament, keep ...model.Tile) error { return t.among(append(keep, tiles...)) },
		ready: func(ctx context.Context, _ model.Tile) error { return op.call(ctx) }, // cuts the pattern
	})
	return rec, err
}

// search tries tiles for a problem, and asks the model and new plans for theirs. It returns the fastest, too.
func (s *Session[T]) search(ctx context.Context, p *problem[T], pat *pattern.Resident, by searcher[T]) (rec *record.Record, fastest model.Tile, err error) {
	none := model.Tile{}
	choice, err := pat.Choose(ctx, modelOps[p.c.Op], p.c.K, p.elemBytes())
	if err != nil {
		return nil, none, err
	}
	rec = s.newRecord(p)
	if rec.Accuracy, err = first(ctx, p, by.op); err != nil {
		return nil, none, err
	}
	clock := newTimer(s.dev)
	calls := 0
	t := &tournament{turn: func(tile model.Tile) (float64, error) {
		if err := by.op.set(tile); err != nil {
			return 0, err
		}
		if err := by.ready(ctx, tile); err != nil {
			return 0, err
		}
		return turn(ctx, clock, s.dev.Props().Threads, func() error { calls++; return by.op.call(ctx) })
	}}
	if err := by.try(t, choice.Tile); err != nil {
		return nil, none, err
	}
	best := t.best()
	// A plan tries tiles on the machine as it is at the moment. What other programs leave of it drifts, so the plan is made
	// just before it is compared with the best of the search, which took long.
	planning, plan, err := s.planning(ctx, p, by.plan)
	if err != nil {
		return nil, none, err
	}
	if _, err := t.enter(plan, true); err != nil {
		return nil, none, err
	}
	losses, err := t.behind(best.tile, choice.Tile, plan)
	if err != nil {
		return nil, none, err
	}
	slices.SortStableFunc(t.all, func(a, b *contender) int { return cmp.Compare(a.least(), b.least()) })
	found := &record.Search{}
	for _, c := range t.all {
		trial := record.Trial{Tile: TileText(c.tile), Seconds: c.least(), Rounds: len(c.samples), Predicted: by.predict(c.tile)}
		found.Tiles = append(found.Tiles, trial)
		if c.tile == choice.Tile {
			found.Model = record.Held{Trial: trial, Loss: losses[0]}
		}
		if c.tile == plan {
			found.Plan = record.Held{Trial: trial, Loss: losses[1]}
			found.Planning = planning
		}
	}
	if err := by.op.set(best.tile); err != nil {
		return nil, none, err
	}
	if err := by.op.call(ctx); err != nil {
		return nil, none, err
	}
	if err := again(p, by.op, rec.Accuracy); err != nil {
		return nil, none, err
	}
	rec.Tile, rec.TileBy, rec.Search = TileText(best.tile), TileBySearch, found
	complete(rec, timed{samples: best.samples, calls: 1}, calls, clock.name())
	return rec, best.tile, nil
}
