package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// State is what every solver has on its device and what becomes the model: the factors, perhaps
// with biases, and the mean that was subtracted from the ratings.
//
// Without biases X is M×K and Y is N×K. With biases a row of X is [x_u, b_u/s, s] and one of Y is
// [y_i, s, c_i/s], so that ⟨X_u, Y_i⟩ = ⟨x_u, y_i⟩ + b_u + c_i, and the constant s (BiasScale) gives
// biases a λ of their own.
//
// GPUs read rows in loads of 16 bytes where all of them begin at multiples of that. So there columns of zeros follow
// x_u or b_u/s, y_i or s, and the last column: solvers leave them so, and no sum is changed by them.
type State[T sparse.Float] struct {
	X, Y *dense.Resident[T]
	Mean float64 // μ, 0 without Options.Mean

	// Unknowns is the number of columns up to the constant of X: what is solved of users, in front of the zeros. It is
	// also the column of the items' biases.
	Unknowns int

	opt   *Options[T]
	train *sparse.CSR[T]
}

// padded returns the number of columns that n become on dev.
func padded[T sparse.Float](dev device.Device, n int) int {
	if _, ok := dev.(device.Launcher); !ok {
		return n
	}
	load := int(16 / unsafe.Sizeof(T(0)))
	return (n + load - 1) / load * load
}

// Columns returns the numbers of columns that State has on dev: Unknowns, and those of X and Y.
func (o *Options[T]) Columns(dev device.Device) (unknowns, all int) {
	if !o.Biases {
		n := padded[T](dev, o.Rank)
		return n, n
	}
	n := padded[T](dev, o.Rank+1)
	return n, padded[T](dev, n+1)
}

// NewState makes X zero and Y random on dev: normal numbers of standard deviation 1/√K from a stream
// per row, so that a row does not depend on the others. itemPtr are the row pointers of the transpose of train's pattern;
// items without ratings are zero, and solvers leave them so. The caller closes the state.
func NewState[T sparse.Float](dev device.Device, train *sparse.CSR[T], itemPtr []int64, opt *Options[T]) (s *State[T], err error) {
	s = &State[T]{opt: opt, train: train}
	if opt.Mean {
		s.Mean = Sum(train.Val) / float64(len(train.Val))
	}
	k := opt.Rank
	width := 0
	s.Unknowns, width = opt.Columns(dev)
	y := dense.New[T](train.Cols, width)
	scale := 1 / math.Sqrt(float64(k))
	parallel.Ranges(0, int64(y.Rows), func(_ int, lo, hi int64) {
		for i := int(lo); i < int(hi); i++ {
			if opt.Biases {
				y.Set(i, k, opt.BiasScale())
			}
			if itemPtr[i] == itemPtr[i+1] {
				continue
			}
			rng := rand.New(rand.NewPCG(opt.Seed, uint64(i)))
			row := y.Row(i)[:k]
			for j := range row {
				row[j] = T(rng.NormFloat64() * scale)
			}
		}
	})
	if s.X, err = s.users(dev, width); err != nil {
		return nil, err
	}
	if s.Y, err = dense.Upload(dev, y); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// users returns the first X: zeros, but for the constant of biases.
func (s *State[T]) users(dev device.Device, width int) (x *dense.Resident[T], err error) {
	if x, err = dense.Zeros[T](dev, s.train.Rows, width); err != nil || !s.opt.Biases {
		return x, err
	}
	constant := dense.New[T](x.Rows, 1)
	for u := range constant.Data {
		constant.Data[u] = s.opt.BiasScale()
	}
	column, err := dense.Place(dev, constant)
	if err == nil {
		err = errors.Join(dense.CopyColumn(context.Background(), x, s.Unknowns, 1, column, 0), column.Close())
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
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
	k, u := s.opt.Rank, s.Unknowns
	parts := []struct {
		of *dense.Resident[T]
		w  *device.Buffer[T]
	}{{s.X.Columns(u), users}, {s.Y.Columns(k), items}}
	if s.opt.Biases {
		parts = append(parts, parts[1])
		parts[2].of = s.Y.ColumnRange(u, u+1)
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
	m := &factors.Model[T]{Algo: algo, Rank: k, Mean: s.Mean, Users: firstColumns(x, k), Items: firstColumns(y, k), Seen: &s.train.Pattern, Meta: s.opt.Meta(false)}
	m.Low, m.High = scale(s.train.Val)
	if s.opt.Biases {
		unit := s.opt.BiasScale()
		m.UserBias, m.ItemBias = ScaledColumn(x, k, unit), ScaledColumn(y, s.Unknowns, unit)
	}
	return m, nil
}

// firstColumns returns m itself where it has k columns, and a copy of the first k where it has more.
func firstColumns[T sparse.Float](m dense.Matrix[T], k int) dense.Matrix[T] {
	if m.Cols == k {
		return m
	}
	out := dense.New[T](m.Rows, k)
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) {
		for i := int(lo); i < int(hi); i++ {
			copy(out.Row(i), m.Row(i))
		}
	})
	return out
}

// ScaledColumn returns unit times column j of m.
func ScaledColumn[T sparse.Float](m dense.Matrix[T], j int, unit T) []T {
	out := make([]T, m.Rows)
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			out[i] = unit * m.At(int(i), j)
		}
	})
	return out
}
