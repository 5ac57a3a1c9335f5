package als

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

// side is one half of the iteration: it solves the rows of x, given y, over a pattern that has a
// row for each row of x. Users and items are two sides of the same code.
type side[T sparse.Float] struct {
	pat    *pattern.Resident
	sample *sddmm.Plan[T]
	mul    *spmm.Plan[T]

	x, y *dense.Resident[T] // unknowns with their fixed columns, and the other side's
	feedback[T]
	values *device.Buffer[T]  // work space on the pattern
	shift  *device.Buffer[T]  // λ·n or λ, one per row
	cg     *dense.RowCG[T]    // on the unknown columns of x
	square *dense.Resident[T] // y∘y on the columns that meet the unknowns
	gram   *dense.Resident[T] // implicit: yᵀy
}

// feedback is what there is to explain, on the device in the order of a side's pattern.
type feedback[T sparse.Float] struct {
	target *device.Buffer[T] // explicit: r − μ; implicit: c∘p
	extra  *device.Buffer[T] // implicit: c − 1; nil for explicit
}

// carried returns the same for the transpose.
func (f feedback[T]) carried(to *pattern.Transposed) (t feedback[T], err error) {
	if t.target, err = pattern.Carry(to, f.target); err != nil || f.extra == nil {
		return t, err
	}
	if t.extra, err = pattern.Carry(to, f.extra); err != nil {
		err = errors.Join(err, t.close())
	}
	return t, err
}

func (f feedback[T]) close() error { return errors.Join(f.target.Close(), f.extra.Close()) }

// newSide puts one side on pat's device. The pattern, x and y stay the caller's; f, in the order of pat, is the side's
// from now on, also after an error. shift is on the host.
func newSide[T sparse.Float](pat *pattern.Resident, x, y *dense.Resident[T], unknowns int, f feedback[T], shift []T) (s *side[T], err error) {
	s = &side[T]{pat: pat, x: x, y: y, feedback: f}
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
	if s.extra != nil {
		if s.gram, err = dense.Alloc[T](dev, unknowns, unknowns); err != nil {
			return s, err
		}
	}
	if s.values, err = device.Alloc[T](dev, pat.NNZ); err != nil {
		return s, err
	}
	if s.shift, err = device.FromHost(dev, shift); err != nil {
		return s, err
	}
	if s.square, err = dense.Alloc[T](dev, y.Rows, unknowns); err != nil {
		return s, err
	}
	s.cg, err = dense.NewRowCG(x.Columns(unknowns), s.shift)
	return s, err
}

func (s *side[T]) close() error {
	if s == nil {
		return nil
	}
	err := errors.Join(s.feedback.close(), s.values.Close(), s.shift.Close(), s.square.Close(), s.gram.Close())
	if s.sample != nil {
		err = errors.Join(err, s.sample.Close())
	}
	if s.mul != nil {
		err = errors.Join(err, s.mul.Close())
	}
	if s.cg != nil {
		err = errors.Join(err, s.cg.Close())
	}
	return err
}

// solve takes at most steps conjugate-gradient steps from the present x.
func (s *side[T]) solve(ctx context.Context, steps int, tol float64) error {
	y := s.y.Columns(s.cg.X.Cols)
	if s.extra != nil {
		if err := dense.Gram(ctx, s.gram, y); err != nil {
			return err
		}
	}
	if err := s.residual(ctx, y); err != nil {
		return err
	}
	if err := s.diagonal(ctx, y); err != nil {
		return err
	}
	active, err := s.cg.Start(ctx, tol)
	for range steps {
		if err != nil || active == 0 {
			return err
		}
		if err = s.operator(ctx, y); err != nil {
			return err
		}
		active, err = s.cg.Step(ctx)
	}
	return err
}

// residual sets R to the right-hand side minus H·x.
func (s *side[T]) residual(ctx context.Context, y *dense.Resident[T]) error {
	if s.extra == nil {
		if err := s.sample.Run(ctx, sddmm.Residual, 1, s.target, s.x, s.y, 0, s.values); err != nil {
			return err
		}
		return s.mul.Run(ctx, spmm.NoTrans, 1, s.values, y, 0, s.cg.R)
	}
	// c∘p − (c−1)∘⟨x, y⟩ on Ω, and −x·yᵀy from all cells.
	if err := s.values.CopyFrom(s.target); err != nil {
		return err
	}
	if err := s.sample.Run(ctx, sddmm.Scale, -1, s.extra, s.x, s.y, 1, s.values); err != nil {
		return err
	}
	if err := s.mul.Run(ctx, spmm.NoTrans, 1, s.values, y, 0, s.cg.R); err != nil {
		return err
	}
	return dense.AddMul(ctx, s.cg.R, -1, s.cg.X, s.gram)
}

// diagonal sets D to the diagonal of H.
func (s *side[T]) diagonal(ctx context.Context, y *dense.Resident[T]) error {
	if err := dense.Square(ctx, s.square, y); err != nil {
		return err
	}
	if s.extra == nil {
		return s.mul.Run(ctx, spmm.NoTrans, 1, nil, s.square, 0, s.cg.D)
	}
	if err := dense.RepeatDiagonal(ctx, s.cg.D, s.gram); err != nil {
		return err
	}
	return s.mul.Run(ctx, spmm.NoTrans, 1, s.extra, s.square, 1, s.cg.D)
}

// operator sets Q = H·P.
func (s *side[T]) operator(ctx context.Context, y *dense.Resident[T]) error {
	f := sddmm.Dot
	if s.extra != nil {
		f = sddmm.Scale
	}
	if err := s.sample.Run(ctx, f, 1, s.extra, s.cg.P, y, 0, s.values); err != nil {
		return err
	}
	if err := s.mul.Run(ctx, spmm.NoTrans, 1, s.values, y, 0, s.cg.Q); err != nil {
		return err
	}
	if s.extra == nil {
		return nil
	}
	return dense.AddMul(ctx, s.cg.Q, 1, s.cg.P, s.gram)
}
