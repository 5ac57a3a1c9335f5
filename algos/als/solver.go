package als

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"sddmmkit/algos/fit"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// solver implements fit.Solver. With biases a row of x is [x_u, b_u/s, s] and one of y is
// [θ_i, s, c_i/s], with s from biasScale; while the items are solved, and only then, the last two
// columns are exchanged.
type solver[T sparse.Float] struct {
	opt   Options[T]
	train *sparse.CSR[T]
	mean  float64

	pat          *pattern.Resident
	x, y         *dense.Resident[T]
	users, items *side[T]
	cells        float64 // implicit: Σ c∘p over Ω, the constant of the loss
}

func newSolver[T sparse.Float](dev device.Device, train *sparse.CSR[T], opt Options[T]) (s *solver[T], err error) {
	s = &solver[T]{opt: opt, train: train}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if opt.Mean {
		s.mean = mean(train.Val)
	}
	if s.pat, err = pattern.Upload(dev, &train.Pattern); err != nil {
		return nil, err
	}
	transposed, err := s.pat.Transpose()
	if err != nil {
		return nil, err
	}
	if err = s.initFactors(dev, transposed.Host()); err != nil {
		return nil, err
	}
	target, extra := s.opt.targets(train.Val, s.mean)
	s.cells = sum(target)
	targetT, extraT := pattern.Gather(transposed, target), extra
	if extra != nil {
		extraT = pattern.Gather(transposed, extra)
	}
	if s.users, err = newSide(s.pat, s.x, s.y, s.unknowns(), target, extra, s.opt.shifts(s.pat.Host())); err != nil {
		return nil, err
	}
	s.items, err = newSide(&transposed.Resident, s.y, s.x, s.unknowns(), targetT, extraT, s.opt.shifts(transposed.Host()))
	return s, err
}

func (s *solver[T]) close() error {
	return errors.Join(s.users.close(), s.items.close(), s.x.Close(), s.y.Close(), s.pat.Close())
}

// unknowns returns the number of columns that are solved for.
func (s *solver[T]) unknowns() int {
	if s.opt.Biases {
		return s.opt.Rank + 1
	}
	return s.opt.Rank
}

// initFactors makes x zero and y random, with a stream of random numbers per row; items without ratings
// stay zero for good.
func (s *solver[T]) initFactors(dev device.Device, items *sparse.Pattern) (err error) {
	k, width := s.opt.Rank, s.opt.Rank
	if s.opt.Biases {
		width += 2
	}
	x, y := dense.New[T](s.train.Rows, width), dense.New[T](s.train.Cols, width)
	scale := 1 / math.Sqrt(float64(k))
	for i := range y.Rows {
		if s.opt.Biases {
			y.Set(i, k, s.opt.biasScale())
		}
		if len(items.Row(i)) == 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(s.opt.Seed, uint64(i)))
		row := y.Row(i)[:k]
		for j := range row {
			row[j] = T(rng.NormFloat64() * scale)
		}
	}
	if s.opt.Biases {
		for u := range x.Rows {
			x.Set(u, k+1, s.opt.biasScale())
		}
	}
	if s.x, err = dense.Upload(dev, x); err != nil {
		return err
	}
	s.y, err = dense.Upload(dev, y)
	return err
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

// swap exchanges the last two columns of both matrices, all of it even when ctx is done.
func (s *solver[T]) swap(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	k := s.opt.Rank
	return errors.Join(dense.SwapColumns(ctx, s.x, k, k+1), dense.SwapColumns(ctx, s.y, k, k+1))
}

// Loss returns the loss of the package comment, and the training RMSE for ratings.
func (s *solver[T]) Loss(ctx context.Context) (loss, rmse float64, err error) {
	rmse = math.NaN()
	if s.opt.Implicit {
		loss, err = s.implicitLoss(ctx)
	} else {
		rmse, err = fit.ResidualRMSE(ctx, s.users.sample, s.users.target, s.x, s.y, s.users.values)
		loss = rmse * rmse * float64(s.pat.NNZ)
	}
	if err != nil {
		return 0, rmse, err
	}
	k := s.opt.Rank
	xs, err := dense.WeightedNorm(ctx, s.users.cg.X, s.users.shift)
	if err != nil {
		return 0, rmse, err
	}
	ys, err := dense.WeightedNorm(ctx, s.y.Columns(k), s.items.shift)
	if err != nil || !s.opt.Biases {
		return loss + xs + ys, rmse, err
	}
	// The item biases stand in the last column, out of reach of Columns.
	if err := s.swap(ctx); err != nil {
		return 0, rmse, err
	}
	ys, err = dense.WeightedNorm(ctx, s.items.cg.X, s.items.shift)
	return loss + xs + ys, rmse, errors.Join(err, s.swap(ctx))
}

// implicitLoss returns Σ_all c·(p − d)² for d = ⟨x, y⟩: from the stored cells
// Σ (c−1)·d² − 2·(c∘p)·d + c∘p, and from all cells Σ d² = ⟨xᵀx, yᵀy⟩.
func (s *solver[T]) implicitLoss(ctx context.Context) (float64, error) {
	u := s.users
	if err := u.sample.Run(ctx, sddmm.Dot, 1, nil, s.x, s.y, 0, u.values); err != nil {
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
	if err := dense.Gram(ctx, s.users.gram, s.y); err != nil {
		return 0, err
	}
	if err := dense.Gram(ctx, s.items.gram, s.x); err != nil {
		return 0, err
	}
	all, err := dense.Dot(ctx, s.users.gram.Buf, s.items.gram.Buf)
	return square - 2*cross + s.cells + all, err
}

// Factors returns the factors with their bias columns.
func (s *solver[T]) Factors() (x, y *dense.Resident[T], mean float64) { return s.x, s.y, s.mean }

// Metric returns how validation is scored.
func (s *solver[T]) Metric() fit.Metric {
	if s.opt.Implicit {
		return fit.NDCG
	}
	return fit.RMSE
}

// Model copies the present factors to the host.
func (s *solver[T]) Model() (*factors.Model[T], error) {
	x, err := s.x.Download()
	if err != nil {
		return nil, err
	}
	y, err := s.y.Download()
	if err != nil {
		return nil, err
	}
	k := s.opt.Rank
	m := &factors.Model[T]{Algo: "als", Rank: k, Mean: s.mean, Implicit: s.opt.Implicit,
		Users: x, Items: y, Seen: &s.train.Pattern, Meta: s.opt.meta()}
	if !s.opt.Implicit {
		m.Low, m.High = scale(s.train.Val)
	}
	if s.opt.Biases {
		unit := s.opt.biasScale()
		m.UserBias, m.ItemBias = column(x, k, unit), column(y, k+1, unit)
		m.Users, m.Items = x.View(0, x.Rows, k).Clone(), y.View(0, y.Rows, k).Clone()
	}
	return m, nil
}

// column returns unit times column j.
func column[T sparse.Float](m dense.Matrix[T], j int, unit T) []T {
	out := make([]T, m.Rows)
	for i := range out {
		out[i] = unit * m.At(i, j)
	}
	return out
}

func sum[T sparse.Float](vals []T) float64 {
	var s float64
	for _, v := range vals {
		s += float64(v)
	}
	return s
}

func mean[T sparse.Float](vals []T) float64 { return sum(vals) / float64(len(vals)) }

// scale returns the lowest and the highest rating.
func scale[T sparse.Float](vals []T) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range vals {
		low, high = min(low, float64(v)), max(high, float64(v))
	}
	return low, high
}
