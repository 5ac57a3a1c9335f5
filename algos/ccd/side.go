package ccd

import (
	"context"
	"errors"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// side is one half of a rank-one update: it solves one column of all, given the same column of the
// other side. Its pattern has a row for each row of all, and its residual stands in the order of
// that pattern. Users and items are two sides of the same code.
type side[T sparse.Float] struct {
	sample *sddmm.Plan[T]
	mul    *spmm.Plan[T]

	all      *dense.Resident[T] // X or Y; the solver's
	target   *device.Buffer[T]  // r − μ
	residual *device.Buffer[T]  // R, or R̂ while a factor is solved
	shift    *device.Buffer[T]  // λ·n or λ, one per row

	// Columns stand here one by one and without gaps, so that products gather from a few
	// cache lines and not from one line per row.
	vec      *dense.Resident[T] // the column that is solved
	square   *dense.Resident[T] // vec∘vec
	num, den *dense.Resident[T] // of the quotient that vec is
	pair     *dense.Resident[T] // the last factor's column and this one's
}

// newSide puts one side on pat's device. The pattern and the matrix stay the caller's; target, in the order
// of pat, is the side's from now on, also after an error. shift is on the host.
func newSide[T sparse.Float](pat *pattern.Resident, all *dense.Resident[T], target *device.Buffer[T], shift []T) (s *side[T], err error) {
	s = &side[T]{all: all, target: target}
	defer func() {
		if err != nil {
			s.close()
			s = nil
		}
	}()
	dev := pat.Device()
	if s.sample, err = sddmm.NewPlan[T](pat); err != nil {
		return s, err
	}
	if s.mul, err = spmm.NewPlan[T](pat); err != nil {
		return s, err
	}
	if s.residual, err = device.Alloc[T](dev, pat.NNZ); err != nil {
		return s, err
	}
	if s.shift, err = device.FromHost(dev, shift); err != nil {
		return s, err
	}
	for _, m := range []**dense.Resident[T]{&s.vec, &s.square, &s.num, &s.den} {
		if *m, err = dense.Alloc[T](dev, pat.Rows, 1); err != nil {
			return s, err
		}
	}
	s.pair, err = dense.Alloc[T](dev, pat.Rows, 2)
	return s, err
}

func (s *side[T]) close() error {
	if s == nil {
		return nil
	}
	err := errors.Join(s.target.Close(), s.residual.Close(), s.shift.Close(),
		s.vec.Close(), s.square.Close(), s.num.Close(), s.den.Close(), s.pair.Close())
	if s.sample != nil {
		err = errors.Join(err, s.sample.Close())
	}
	if s.mul != nil {
		err = errors.Join(err, s.mul.Close())
	}
	return err
}

// restart sets the residual to that of the whole model.
func (s *side[T]) restart(ctx context.Context, other *side[T]) error {
	return s.sample.Run(ctx, sddmm.Residual, 1, s.target, s.all, other.all, 0, s.residual)
}

// load makes column t of all the one that is solved, and the pair of sign times column last and of it.
func (s *side[T]) load(ctx context.Context, t, last int, sign T) error {
	if err := dense.CopyColumn(ctx, s.vec, 0, 1, s.all, t); err != nil {
		return err
	}
	if err := dense.CopyColumn(ctx, s.pair, 0, sign, s.all, last); err != nil {
		return err
	}
	return dense.CopyColumn(ctx, s.pair, 1, 1, s.vec, 0)
}

// update adds the product of both pairs to the residual: two rank-one updates for one pass over it.
func (s *side[T]) update(ctx context.Context, other *side[T]) error {
	return s.sample.Run(ctx, sddmm.Dot, 1, nil, s.pair, other.pair, 1, s.residual)
}

// solve sets vec = spmm(R̂, w) / (spmm(Ω, w∘w) + shift) for the other side's column w.
func (s *side[T]) solve(ctx context.Context, other *side[T]) error {
	if err := dense.Square(ctx, other.square, other.vec); err != nil {
		return err
	}
	if err := s.mul.Run(ctx, spmm.NoTrans, 1, s.residual, other.vec, 0, s.num); err != nil {
		return err
	}
	if err := s.mul.Run(ctx, spmm.NoTrans, 1, nil, other.square, 0, s.den); err != nil {
		return err
	}
	return dense.ShiftedQuotient(ctx, s.vec, s.num, s.den, s.shift)
}

// store puts the column that is solved back as column t of all.
func (s *side[T]) store(ctx context.Context, t int) error {
	return dense.CopyColumn(ctx, s.all, t, 1, s.vec, 0)
}
