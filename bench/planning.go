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
	plannedCalls  = 12  // first calls of a plan at least; all until it has settled count
	settledCalls  = 3   // calls after that at least
	planned       = 4   // plans, the least counting
	cheapPlanning = 4.0 // settled calls; when planning took no more, one plan is enough
)

// firstCalls are the first calls of a new plan.
type firstCalls struct {
	seconds float64
	calls   int
	tile    model.Tile // that the plan ends with
}

// planning returns the first calls of a new plan, which plan makes for a pattern that nobody has looked at.
func (s *Session[T]) planning(ctx context.Context, p *problem[T], plan func(*pattern.Resident) (*operation[T], error)) (firstCalls, error) {
	clock := newTimer(s.dev)
	least, leastMore := firstCalls{}, math.Inf(1)
	for range planned {
		var first firstCalls
		last := math.Inf(1)
		err := func() (err error) {
			pat, err := pattern.Upload(s.dev, &p.m.S.Pattern)
			if err != nil {
				return err
			}
			op, err := plan(pat)
			if err != nil {
				return errors.Join(err, pat.Close())
			}
			defer func() { err = errors.Join(err, op.close(), pat.Close()) }()
			if err := op.poison(); err != nil { // touches its pages
				return err
			}
			settled := false
			for after := 0; first.calls < plannedCalls || after < settledCalls && first.calls < maxSettling; {
				took, err := clock.time(func() error { return op.call(ctx) })
				if err != nil {
					return err
				}
				first.seconds, first.calls = first.seconds+took, first.calls+1
				if settled {
					last = min(last, took)
					after++
				}
				if op.tile == nil {
					settled = true
				} else if first.tile, settled, err = op.tile(ctx); err != nil {
					return err
				}
			}
			return ctx.Err()
		}()
		if err != nil {
			return firstCalls{}, err
		}
		more := first.seconds/last - float64(first.calls)
		if more < leastMore {
			least, leastMore = first, more
		}
		if more < cheapPlanning {
			break
		}
	}
	return least, nil
}
