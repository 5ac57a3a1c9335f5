package bench

import (
	"context"
	"errors"
	"math"

	"sddmmkit/model"
	"sddmmkit/pattern"
)

// Planning is timed on plans of patterns that were just uploaded.
const (
	plannedCalls  = 12  // first calls of a plan
	planned       = 2   // plans, the least counting
	cheapPlanning = 4.0 // settled calls; when planning took no more, one plan is enough
)

// planning returns the time of the first calls of a new plan and the tile that it ends with.
func (s *Session[T]) planning(ctx context.Context, p *problem[T]) (took float64, tile model.Tile, err error) {
	clock := newTimer(s.dev)
	took = math.Inf(1)
	for range planned {
		seconds, last := 0.0, 0.0
		err := func() (err error) {
			pat, err := pattern.Upload(s.dev, &p.m.S.Pattern)
			if err != nil {
				return err
			}
			op, err := ours(s.dev, p, pat, Tiling{})
			if err != nil {
				return errors.Join(err, pat.Close())
			}
			defer func() { err = errors.Join(err, op.close(), pat.Close()) }()
			if err := op.poison(); err != nil { // touches its pages
				return err
			}
			settled := false
			for n := 0; n < plannedCalls || !settled && n < maxSettling; n++ {
				if last, err = clock.time(func() error { return op.call(ctx) }); err != nil {
					return err
				}
				if n < plannedCalls {
					seconds += last
				}
				if tile, settled, err = op.tile(ctx); err != nil {
					return err
				}
			}
			return ctx.Err()
		}()
		if err != nil {
			return 0, tile, err
		}
		took = min(took, seconds)
		if seconds < (plannedCalls+cheapPlanning)*last {
			break
		}
	}
	return took, tile, nil
}
