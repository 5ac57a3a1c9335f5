package ccd

import (
	"context"
	"errors"
	"strconv"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// solver implements fit.Solver.
type solver[T sparse.Float] struct {
	opt Options[T]
	*fit.State[T]

	pat          *pattern.Resident
	users, items *side[T]
}

// factor is a column of X and Y: what one rank-one update changes.
type factor struct {
	column       int
	users, items bool // which sides are solved; of a bias, the other side is constant
}

// order returns the factors in the order of their updates. Biases come first: they explain most, and
// the factors need not learn it before them.
func (s *solver[T]) order() []factor {
	var all []factor
	if s.opt.Biases {
		all = append(all, factor{column: s.opt.Rank, users: true}, factor{column: s.Unknowns, items: true})
	}
	for t := range s.opt.Rank {
		all = append(all, factor{column: t, users: true, items: true})
	}
	return all
}

func newSolver[T sparse.Float](dev device.Device, train *sparse.CSR[T], opt Options[T]) (s *solver[T], err error) {
	s = &solver[T]{opt: opt}
	defer func() {
		if err != nil {
			s.close()
			s = nil
		}
	}()
	if s.pat, err = pattern.Upload(dev, &train.Pattern); err != nil {
		return s, err
	}
	transposed, err := s.pat.Transpose()
	if err != nil {
		return s, err
	}
	itemPtr, err := transposed.Pointers()
	if err != nil {
		return s, err
	}
	if s.State, err = fit.NewState(dev, train, itemPtr, &s.opt.Options); err != nil {
		return s, err
	}
	target, err := fit.UploadMinus(dev, train.Val, s.Mean)
	if err != nil {
		return s, err
	}
	if s.users, err = newSide(s.pat, s.X, target, s.opt.Shifts(train.RowPtr, false)); err != nil {
		return s, err
	}
	if target, err = pattern.Carry(transposed, target); err != nil {
		return s, err
	}
	s.items, err = newSide(&transposed.Resident, s.Y, target, s.opt.Shifts(itemPtr, false))
	return s, err
}

func (s *solver[T]) close() error {
	return errors.Join(s.users.close(), s.items.close(), s.State.Close(), s.pat.Close())
}

// Iterate updates all factors, one after the other.
func (s *solver[T]) Iterate(ctx context.Context) error {
	if err := s.restart(ctx); err != nil {
		return err
	}
	last := -1
	for _, f := range s.order() {
		if err := s.exclude(ctx, last, f.column); err != nil {
			return err
		}
		if err := s.solve(ctx, f); err != nil {
			return err
		}
		if err := s.store(ctx, f.column); err != nil {
			return err
		}
		last = f.column
	}
	return nil
}

// restart computes the residuals of the whole model anew, so that rounding does not add up over the
// iterations.
func (s *solver[T]) restart(ctx context.Context) error {
	if err := s.users.restart(ctx, s.items); err != nil {
		return err
	}
	return s.items.restart(ctx, s.users)
}

// exclude turns the residuals of the whole model, but for a last factor that is still excluded, into those of a
// model without column t: R̂ = R̂ − u·vᵀ + u'·v'ᵀ with the last column's new u, v and the column t's u', v'.
func (s *solver[T]) exclude(ctx context.Context, last, t int) error {
	sign := T(-1)
	if last < 0 {
		last, sign = t, 0
	}
	if err := s.users.load(ctx, t, last, sign); err != nil {
		return err
	}
	if err := s.items.load(ctx, t, last, 1); err != nil {
		return err
	}
	if err := s.users.update(ctx, s.items); err != nil {
		return err
	}
	return s.items.update(ctx, s.users)
}

// solve finds the columns of factor f that explain the residuals best.
func (s *solver[T]) solve(ctx context.Context, f factor) error {
	steps := s.opt.InnerSteps
	if !f.users || !f.items {
		steps = 1 // another one would find the same
	}
	for range steps {
		if f.users {
			if err := s.users.solve(ctx, s.items); err != nil {
				return err
			}
		}
		if f.items {
			if err := s.items.solve(ctx, s.users); err != nil {
				return err
			}
		}
	}
	return nil
}

// store makes the columns that were solved column t of X and Y, both of them even when ctx is done: together
// they are one update.
func (s *solver[T]) store(ctx context.Context, t int) error {
	ctx = context.WithoutCancel(ctx)
	return errors.Join(s.users.store(ctx, t), s.items.store(ctx, t))
}

// Loss returns the loss of package fit, and the training RMSE.
func (s *solver[T]) Loss(ctx context.Context) (loss, rmse float64, err error) {
	rmse, err = fit.ResidualRMSE(ctx, s.users.sample, s.users.target, s.X, s.Y, s.users.residual)
	if err != nil {
		return 0, 0, err
	}
	penalty, err := s.Penalty(ctx, s.users.shift, s.items.shift)
	return rmse*rmse*float64(s.pat.NNZ) + penalty, rmse, err
}

// Metric returns how validation is scored.
func (s *solver[T]) Metric() fit.Metric { return fit.RMSE }

// metaSteps is the name under which a model remembers T.
const metaSteps = "inner_steps"

// Model copies the present factors to the host.
func (s *solver[T]) Model() (*factors.Model[T], error) {
	m, err := s.State.Model("ccd")
	if err != nil {
		return nil, err
	}
	m.Meta[metaSteps] = strconv.Itoa(s.opt.InnerSteps)
	return m, nil
}
