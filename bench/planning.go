package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sddmmkit/model"
	"sddmmkit/pattern"
)

// Planning is timed on plans of patterns that were just uploaded.
const (
	settledCalls  = 8   // calls of a plan once it has settled
	planned       = 3   // plans, the least counting
	cheapPlanning = 4.0 // settled calls; when planning took no more, one plan is enough
)

// planning returns what the calls of a new plan take until it has settled on a tile, beyond as many calls after that and
// in such calls, and the tile. The function plan makes one for a pattern that nobody has looked at. Means are compared:
// other programs disturb all calls alike.
func (s *Session[T]) planning(ctx context.Context, p *problem[T], plan func(*pattern.Resident) (*operation[T], error)) (least float64, tile model.Tile, err error) {
	least = math.Inf(1)
	for range planned {
		took, ended, err := s.firstCalls(ctx, p, plan)
		if err != nil {
			return 0, tile, err
		}
		if took < least {
			least, tile = took, ended
		}
		if took < cheapPlanning {
			break
		}
	}
	return max(least, 0), tile, nil
}

// firstCalls is planning for one plan.
func (s *Session[T]) firstCalls(ctx context.Context, p *problem[T], plan func(*pattern.Resident) (*operation[T], error)) (more float64, tile model.Tile, err error) {
	pat, err := pattern.Upload(s.dev, &p.m.S.Pattern)
	if err != nil {
		return 0, tile, err
	}
	op, err := plan(pat)
	if err != nil {
		return 0, tile, errors.Join(err, pat.Close())
	}
	defer func() { err = errors.Join(err, op.close(), pat.Close()) }()
	if err := op.poison(); err != nil { // touches its pages
		return 0, tile, err
	}
	clock := newTimer(s.dev)
	var seconds [2]float64 // before it has settled and after
	var calls [2]int
	for settled := 0; calls[0] < maxSettling && calls[1] < settledCalls; {
		took, err := clock.time(func() error { return op.call(ctx) })
		if err != nil {
			return 0, tile, err
		}
		seconds[settled] += took
		calls[settled]++
		if settled == 1 || op.tile == nil {
			settled = 1
			continue
		}
		var done bool
		if tile, done, err = op.tile(ctx); err != nil {
			return 0, tile, err
		}
		if done {
			settled = 1
		}
	}
	if calls[1] == 0 {
		return 0, tile, fmt.Errorf("bench: a plan still tries tiles after %d calls", calls[0])
	}
	return seconds[0]/(seconds[1]/float64(calls[1])) - float64(calls[0]), tile, ctx.Err()
}
