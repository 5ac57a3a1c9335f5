package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"sddmmkit/dense"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// Solver is the state of one factorisation on a device.
type Solver[T sparse.Float] interface {
	// Iterate does one iteration. When ctx ends it early, the state is still a valid model.
	Iterate(ctx context.Context) error

	// Loss returns the loss of the present state, and the training RMSE or NaN.
	Loss(ctx context.Context) (loss, rmse float64, err error)

	// Factors returns matrices x (M×W) and y (N×W), and μ, such that the model's score of (i, j) is
	// μ + ⟨x_i, y_j⟩, biases included. They stay the solver's.
	Factors() (x, y *dense.Resident[T], mean float64)

	// Metric says how Validation is scored.
	Metric() Metric

	// Model returns a copy of the present state.
	Model() (*factors.Model[T], error)
}

// Result is a trained model and how it came about.
type Result[T sparse.Float] struct {
	Model      *factors.Model[T]
	History    []Iteration // one per completed iteration
	Best       int         // the iteration that Model is of, counted from 1; 0 when none was completed
	Stopped    Stop
	Seconds    float64
	BestRecord Iteration // History[Best-1]
}

// Run iterates the solver as the options say. When ctx is done it returns within a fraction of one
// iteration, with both the model so far and ctx's error.
func Run[T sparse.Float](ctx context.Context, s Solver[T], train *sparse.CSR[T], opt Options[T]) (*Result[T], error) {
	val, err := newValidator(s, train, opt.Validation)
	if err != nil {
		return nil, err
	}
	defer val.close()
	res := &Result[T]{Stopped: Finished}
	start := time.Now()
	var best *factors.Model[T] // of res.Best, kept only where a later iteration may be worse
	bestScore, stale := math.Inf(1), 0
	record := func(n int) (Iteration, error) {
		it := Iteration{N: n}
		var err error
		if it.Loss, it.TrainRMSE, err = s.Loss(ctx); err != nil {
			return it, err
		}
		if !(math.Abs(it.Loss) <= math.MaxFloat64) {
			return it, fmt.Errorf("the loss is %v after iteration %d; try a larger lambda", it.Loss, n)
		}
		it.Score, it.Metric, err = val.score(ctx)
		it.Seconds = time.Since(start).Seconds()
		return it, err
	}
loop:
	for n := 1; n <= opt.Iterations; n++ {
		if err = s.Iterate(ctx); err != nil {
			break
		}
		var it Iteration
		if it, err = record(n); err != nil {
			break
		}
		res.History = append(res.History, it)
		if opt.Patience > 0 {
			lower := it.Score
			if it.Metric == NDCG {
				lower = -lower
			}
			if stale++; lower < bestScore-opt.MinDelta {
				bestScore, stale, res.Best = lower, 0, n
				if best, err = s.Model(); err != nil {
					return nil, err
				}
			}
		} else {
			res.Best = n
		}
		if opt.OnIteration != nil {
			if err = opt.OnIteration(it); errors.Is(err, ErrStop) {
				res.Stopped, err = Callback, nil
				break loop
			} else if err != nil {
				break
			}
		}
		if opt.Patience > 0 && stale >= opt.Patience {
			res.Stopped = Patience
			break
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			return nil, err
		}
		res.Stopped, err = Interrupted, ctx.Err()
	}
	res.Seconds = time.Since(start).Seconds()
	if res.Model = best; best == nil {
		m, merr := s.Model()
		if merr != nil {
			return nil, merr
		}
		res.Model = m
	}
	if res.Best > 0 {
		res.BestRecord = res.History[res.Best-1]
	}
	return res, err
}
