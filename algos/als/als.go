package als

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// Options say how to train. Start from DefaultOptions.
type Options[T sparse.Float] struct {
	fit.Options[T]

	// CGSteps bounds the conjugate-gradient steps of one half-iteration; CGTol ends them earlier
	// for rows whose residual has fallen by that factor.
	CGSteps int
	CGTol   float64

	Implicit bool    // values are strengths of implicit feedback; without Mean and Biases
	Alpha    float64 // α of the confidence 1 + α·|r|

	// Tune has a GPU try tiles in the first iterations and use the fastest: see sddmm.Plan.Tune. The clock then decides the last bits
	// of a model. On CPUs it changes nothing.
	Tune bool
}

// DefaultOptions returns the options of plain ALS-WR with rank K = 32, λ = 0.1 and 15 iterations of
// 6 steps. Biases make predictions of ratings better; for implicit feedback set Implicit.
func DefaultOptions[T sparse.Float]() Options[T] {
	return Options[T]{
		Options: fit.Options[T]{Rank: 32, Lambda: 0.1, Iterations: 15, Seed: 1},
		CGSteps: 6, CGTol: 1e-7, Alpha: 40,
	}
}

func (o *Options[T]) check(train *sparse.CSR[T]) error {
	if err := o.Options.Check(train); err != nil {
		return fmt.Errorf("als: %w", err)
	}
	switch {
	case o.CGSteps < 1:
		return fmt.Errorf("als: %d CG steps; want at least 1", o.CGSteps)
	case !(o.CGTol >= 0 && o.CGTol < 1):
		return fmt.Errorf("als: CG tolerance %v; want a number in [0, 1)", o.CGTol)
	case o.Implicit && (o.Biases || o.Mean):
		return fmt.Errorf("als: the mean and biases are for ratings; leave them out for implicit feedback")
	case o.Implicit && (!(o.Alpha >= 0) || math.IsInf(o.Alpha, 0)):
		return fmt.Errorf("als: alpha is %v; want a finite number ≥ 0", o.Alpha)
	case train.NNZ() == 0:
		return fmt.Errorf("als: the training matrix (%d×%d) has no ratings", train.Rows, train.Cols)
	}
	return nil
}

// Train factorises train on dev. It keeps no reference to train except its pattern, which the
// model holds as what users have seen. When ctx is done it returns, within a fraction of an
// iteration, the model so far together with ctx's error.
//
// The same options and seed give the same bits for any number of threads, but with Tune on a GPU.
func Train[T sparse.Float](ctx context.Context, dev device.Device, train *sparse.CSR[T], opt Options[T]) (*fit.Result[T], error) {
	prepare(dev, train, &opt)
	if err := opt.check(train); err != nil {
		return nil, err
	}
	s, err := newSolver(dev, train, opt)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return fit.Run[T](ctx, s, train, opt.Options)
}
