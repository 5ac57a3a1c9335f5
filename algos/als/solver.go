package als

import (
	"context"
	"errors"
	"math"

	"sddmmkit/algos/fit"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// solver implements fit.Solver. While the items are solved, and only then, the columns of the two biases in a state with
// biases are exchanged, so that the unknowns are the first columns for them too.
type solver[T sparse.Float] struct {
	opt Options[T]
	*fit.State[T]

	pat          *pattern.Resident
	users, items *side[T]
	cells        float64 // implicit: Σ c∘p over Ω, the constant of the loss
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
	if opt.Implicit {
		s.cells = opt.cells(train.Val)
	}
	given, err := opt.upload(dev, train.Val, s.Mean)
	if err != nil {
		return s, err
	}
	if s.users, err = newSide(s.pat, s.X, s.Y, s.Unknowns, given, s.opt.Shifts(train.RowPtr, opt.Implicit)); err != nil {
		return s, err
	}
	if given, err = given.carried(transposed); err != nil {
		return s, err
	}
	if s.items, err = newSide(&transposed.Resident, s.Y, s.X, s.Unknowns, given, s.opt.Shifts(itemPtr, opt.Implicit)); err != nil {
		return s, err
	}
	if opt.Tune {
		s.users.sample.Tune()
		s.items.sample.Tune()
	}
	return s, nil
}

func (s *solver[T]) close() error {
	return errors.Join(s.users.close(), s.items.close(), s.State.Close(), s.pat.Close())
}

// Iterate solves the users, then the items.
func (s *solver[T]) Iterate(ctx context.Context) error {
	if err := s.users.solve(ctx, s.opt.CGSteps, s.opt.CGTol); err != nil {
		return err
	}
	if !s.opt.Biases {
		return s.items.solve(ctx, s.opt.CGSteps, s.opt.CGTol)
	}
	if err := s.swap(ctx); err != nil {
		return err
	}
	return errors.Join(s.items.solve(ctx, s.opt.CGSteps, s.opt.CGTol), s.swap(ctx))
}

// swap exchanges the columns of the biases in both matrices, all of it even when ctx is done.
func (s *solver[T]) swap(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	k, u := s.opt.Rank, s.Unknowns
	return errors.Join(dense.SwapColumns(ctx, s.X, k, u), dense.SwapColumns(ctx, s.Y, k, u))
}

// Loss returns the loss of the package comment, and the training RMSE for ratings.
func (s *solver[T]) Loss(ctx context.Context) (loss, rmse float64, err error) {
	rmse = math.NaN()
	if s.opt.Implicit {
		loss, err = s.implicitLoss(ctx)
	} else {
		rmse, err = fit.ResidualRMSE(ctx, s.users.sample, s.users.target, s.X, s.Y, s.users.values)
		loss = rmse * rmse * float64(s.pat.NNZ)
	}
	if err != nil {
		return 0, rmse, err
	}
	penalty, err := s.Penalty(ctx, s.users.shift, s.items.shift)
	return loss + penalty, rmse, err
}

// implicitLoss returns Σ_all c·(p − d)² for d = ⟨x, y⟩: from the stored cells
// Σ (c−1)·d² − 2·(c∘p)·d + c∘p, and from all cells Σ d² = ⟨xᵀx, yᵀy⟩.
func (s *solver[T]) implicitLoss(ctx context.Context) (float64, error) {
	u := s.users
	if err := u.sample.Run(ctx, sddmm.Dot, 1, nil, s.X, s.Y, 0, u.values); err != nil {
		return 0, err
	}
	cross, err := dense.Dot(ctx, u.target, u.values)
	if err != nil {
		return 0, err
	}
	square, err := dense.Dot3(ctx, u.extra, u.values, u.values)
	if err != nil {
		return 0, err
	}
	if err := dense.Gram(ctx, s.users.gram, s.Y); err != nil {
		return 0, err
	}
	if err := dense.Gram(ctx, s.items.gram, s.X); err != nil {
		return 0, err
	}
	all, err := dense.Dot(ctx, s.users.gram.Buf, s.items.gram.Buf)
	return square - 2*cross + s.cells + all, err
}

// Metric returns how validation is scored.
func (s *solver[T]) Metric() fit.Metric {
	if s.opt.Implicit {
		return fit.NDCG
	}
	return fit.RMSE
}

// Model copies the present factors to the host.
func (s *solver[T]) Model() (*factors.Model[T], error) {
	m, err := s.State.Model("als")
	if err != nil {
		return nil, err
	}
	m.Meta = s.opt.meta()
	if m.Implicit = s.opt.Implicit; m.Implicit {
		m.Low, m.High = 0, 0 // strengths of feedback are no scale of scores
	}
	return m, nil
}
