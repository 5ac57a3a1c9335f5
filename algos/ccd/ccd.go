package ccd

import (
	"context"
	"fmt"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// Options say how to train. Start from DefaultOptions.
type Options[T sparse.Float] struct {
	fit.Options[T]

	// InnerSteps is the number T of times that a factor's u and v are solved in turn before the next factor.
	InnerSteps int
}

// DefaultOptions returns the options of CCD++ with rank K = 32, λ = 0.1 times the number of ratings,
// and 20 iterations of two inner steps. One inner step costs two thirds of the time, and from a random start it
// needs several times as many iterations. Biases make predictions better.
func DefaultOptions[T sparse.Float]() Options[T] {
	return Options[T]{
		Options:    fit.Options[T]{Rank: 32, Lambda: 0.1, Iterations: 20, Seed: 1},
		InnerSteps: 2,
	}
}

func (o *Options[T]) check(train *sparse.CSR[T]) error {
	if err := o.Options.Check(train); err != nil {
		return fmt.Errorf("ccd: %w", err)
	}
	switch {
	case o.InnerSteps < 1:
		return fmt.Errorf("ccd: %d inner steps; want at least 1", o.InnerSteps)
	case train.NNZ() == 0:
		return fmt.Errorf("ccd: the training matrix (%d×%d) has no ratings", train.Rows, train.Cols)
	}
	return nil
}

// Train factorises train on dev. It keeps no reference to train except its pattern, which the
// model holds as what users have seen. When ctx is done it returns, within a fraction of an
// iteration, the model so far together with ctx's error.
//
// The same options and seed give the same bits for any number of threads.
func Train[T sparse.Float](ctx context.Context, dev device.Device, train *sparse.CSR[T], opt Options[T]) (*fit.Result[T], error) {
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
