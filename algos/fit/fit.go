package fit

import (
	"errors"
	"fmt"
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Regularization says what λ is multiplied with.
type Regularization uint8

// The kinds of regularization.
const (
	ByFeedback Regularization = iota // Weighted for ratings, Plain for implicit feedback
	Weighted                         // λ times the number of ratings of the user or item
	Plain                            // λ
)

// Options are what every factorisation takes. Solvers' DefaultOptions fill them.
type Options[T sparse.Float] struct {
	Rank           int     // K, at least 1
	Lambda         float64 // λ ≥ 0
	Regularization Regularization
	Iterations     int    // at most this many
	Seed           uint64 // of the first factors; the same seed gives the same bits, but where an algorithm is told to tune on a GPU

	Mean   bool // subtract the mean rating first
	Biases bool // user and item biases, solved with the factors

	// BiasLambda is the λ of the biases; 0 means Lambda/2. With Lambda = 0 it is 0 too.
	BiasLambda float64

	// Validation, of the shape of the training matrix, is scored after every iteration. With
	// Patience > 0, training stops when the score has not improved by more than MinDelta for
	// Patience iterations, and the model of the best iteration is returned.
	Validation *sparse.CSR[T]
	Patience   int
	MinDelta   float64

	// OnIteration is called after every iteration, from the goroutine of the caller. When it
	// returns ErrStop, training ends there without an error; any other error ends it with that error.
	OnIteration func(Iteration) error
}

// ErrStop is returned by an OnIteration that has seen enough.
var ErrStop = errors.New("stop training")

// Iteration is the record of one iteration. Numbers that were not computed are NaN.
type Iteration struct {
	N         int     // 1, 2, …
	Loss      float64 // see the package comment, or the solver's for implicit feedback
	TrainRMSE float64 // root of the mean squared error on the training ratings; NaN for implicit feedback
	Score     float64 // on Validation; see Metric
	Metric    Metric
	Seconds   float64 // since training began
}

// Metric names what Score is.
type Metric string

// The metrics.
const (
	RMSE Metric = "rmse"    // lower is better
	NDCG Metric = "ndcg@20" // higher is better
)

// Stop says why training ended.
type Stop string

// The reasons.
const (
	Finished    Stop = "iterations"  // all of them were done
	Patience    Stop = "patience"    // validation no longer improved
	Callback    Stop = "callback"    // OnIteration returned ErrStop
	Interrupted Stop = "interrupted" // the context was done
)

// Check reports options that make no sense, and a training or validation matrix that does not fit.
func (o *Options[T]) Check(train *sparse.CSR[T]) error {
	switch {
	case o.Rank < 1:
		return fmt.Errorf("rank is %d; want at least 1", o.Rank)
	case o.Iterations < 1:
		return fmt.Errorf("iterations is %d; want at least 1", o.Iterations)
	case !(o.Lambda >= 0) || math.IsInf(o.Lambda, 0):
		return fmt.Errorf("lambda is %v; want a finite number ≥ 0", o.Lambda)
	case o.Regularization > Plain:
		return fmt.Errorf("regularization is %d; want ByFeedback, Weighted or Plain", o.Regularization)
	case !(o.BiasLambda >= 0) || math.IsInf(o.BiasLambda, 0):
		return fmt.Errorf("the lambda of the biases is %v; want a finite number ≥ 0", o.BiasLambda)
	case o.Patience < 0:
		return fmt.Errorf("patience is %d; want 0 (off) or more", o.Patience)
	case o.Patience > 0 && (o.Validation == nil || o.Validation.NNZ() == 0):
		return errors.New("patience needs a validation matrix with ratings in it")
	}
	if err := train.Validate(); err != nil {
		return fmt.Errorf("training matrix: %w", err)
	}
	if err := finite("training", train.Val); err != nil {
		return err
	}
	if v := o.Validation; v != nil {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("validation matrix: %w", err)
		}
		if v.Rows != train.Rows || v.Cols != train.Cols {
			return &sparse.ShapeError{Op: "validation",
				Operands: fmt.Sprintf("training matrix %d×%d, validation matrix %d×%d", train.Rows, train.Cols, v.Rows, v.Cols),
				Want:     "equal sizes; read both with the same id maps"}
		}
		return finite("validation", v.Val)
	}
	return nil
}

// finite reports the first of vals that is not finite.
func finite[T sparse.Float](what string, vals []T) error {
	first := make([]int64, parallel.Threads(0))
	for p := range first {
		first[p] = -1
	}
	parallel.Ranges(len(first), int64(len(vals)), func(p int, lo, hi int64) {
		for z, v := range vals[lo:hi] {
			if v-v != 0 { // of NaN and infinities it is NaN
				first[p] = lo + int64(z)
				return
			}
		}
	})
	for _, z := range first {
		if z >= 0 {
			return fmt.Errorf("%s matrix: value %d is %v; want finite numbers", what, z, vals[z])
		}
	}
	return nil
}
