package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// State is what every solver has on its device and what becomes the model: the factors, perhaps
// with biases, and the mean that was subtracted from the ratings.
//
// Without biases X is M×K and Y is N×K. With biases a row of X is [x_u, b_u/s, s] and one of Y is
// [y_i, s, c_i/s], so that ⟨X_u, Y_i⟩ = ⟨x_u, y_i⟩ + b_u + c_i, and the constant s (BiasScale) gives
// biases a λ of their own.
type State[T sparse.Float] struct {
	X, Y *dense.Resident[T]
	Mean float64 // μ, 0 without Options.Mean

	opt   *Options[T]
	train *sparse.CSR[T]
}

// NewState makes X zero and Y random on dev: normal numbers of standard deviation 1/√K from a stream
// per row, so that a row does not depend on the others. items is the transpose of train's pattern; items without
// ratings are zero, and solvers leave them so. The caller closes the state.
func NewState[T sparse.Float](dev device.Device, train *sparse.CSR[T], items *sparse.Pattern, opt *Options[T]) (s *State[T], err error) {
	s = &State[T]{opt: opt, train: train}
	if opt.Mean {
		s.Mean = Sum(train.Val) / float64(len(train.Val))
	}
	k, width := opt.Rank, opt.Rank
	if opt.Biases {
		width += 2
	}
	x, y := dense.New[T](train.Rows, width), dense.New[T](train.Cols, width)
	scale := 1 / math.Sqrt(float64(k))
	for i := range y.Rows {
		if opt.Biases {
			y.Set(i, k, opt.BiasScale())
		}
		if len(items.Row(i)) == 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(opt.Seed, uint64(i)))
		row := y.Row(i)[:k]
		for j := range row {
			row[j] = T(rng.NormFloat64() * scale)
		}
	}
	if opt.Biases {
		for u := range x.Rows {
			x.Set(u, k+1, opt.BiasScale())
		}
	}
	if s.X, err = dense.Upload(dev, x); err != nil {
		return nil, err
	}
	if s.Y, err = dense.Upload(dev, y); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close frees the factors. Closing nil or closing again does nothing.
func (s *State[T]) Close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.X.Close(), s.Y.Close())
}

// Factors implements a part of Solver.
func (s *State[T]) Factors() (x, y *dense.Resident[T], mean float64) { return s.X, s.Y, s.Mean }

// Penalty returns Σ_i w_i·‖x_i‖² + Σ_j w_j·‖y_j‖² with the shifts of users and items as w. Biases are
// counted as they stand in X and Y, which gives them their own λ.
func (s *State[T]) Penalty(ctx context.Context, users, items *device.Buffer[T]) (float64, error) {
	k := s.opt.Rank
	parts := []struct {
		of *dense.Resident[T]
		w  *device.Buffer[T]
	}{{s.X.Columns(k), users}, {s.Y.Columns(k), items}}
	if s.opt.Biases {
		parts[0].of = s.X.Columns(k + 1)
		parts = append(parts, parts[1])
		parts[2].of = s.Y.ColumnRange(k+1, k+2)
	}
	var sum float64
	for _, p := range parts {
		n, err := dense.WeightedNorm(ctx, p.of, p.w)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Model copies the present factors to the host, as a model for ratings with the Meta of the options.
func (s *State[T]) Model(algo string) (*factors.Model[T], error) {
	x, err := s.X.Download()
	if err != nil {
		return nil, err
	}
	y, err := s.Y.Download()
	if err != nil {
		return nil, err
	}
	k := s.opt.Rank
	m := &factors.Model[T]{Algo: algo, Rank: k, Mean: s.Mean, Users: x, Items: y, Seen: &s.train.Pattern, Meta: s.opt.Meta(false)}
	m.Low, m.High = scale(s.train.Val)
	if s.opt.Biases {
		unit := s.opt.BiasScale()
		m.UserBias, m.ItemBias = ScaledColumn(x, k, unit), ScaledColumn(y, k+1, unit)
		m.Users, m.Items = x.View(0, x.Rows, k).Clone(), y.View(0, y.Rows, k).Clone()
	}
	return m, nil
}

// ScaledColumn returns unit times column j of m.
func ScaledColumn[T sparse.Float](m dense.Matrix[T], j int, unit T) []T {
	out := make([]T, m.Rows)
	for i := range out {
		out[i] = unit * m.At(i, j)
	}
	return out
}
