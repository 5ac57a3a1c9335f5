package als

import (
	"context"
	"fmt"

	"sddmmkit/algos/fit"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// FoldIn solves the factors of new users, with the item factors of a trained model as they are: row u
// of ratings (M'×N, N the model's items) holds what new user u rated. It returns their factors (M'×K)
// and, when the model has biases, their biases; factors.Model.TopNFor takes both. It is the same system
// as in training, solved to convergence, so that folding in the ratings of a training user
// gives that user's exact solution.
func FoldIn[T sparse.Float](ctx context.Context, dev device.Device, m *factors.Model[T], ratings *sparse.CSR[T]) (users dense.Matrix[T], biases []T, err error) {
	opt, err := optionsOf(m)
	if err != nil {
		return users, nil, err
	}
	if err := opt.Check(ratings); err != nil {
		return users, nil, fmt.Errorf("als.FoldIn: %w", err)
	}
	if ratings.Cols != m.Items.Rows || m.Items.Cols != m.Rank || m.ItemBias != nil && len(m.ItemBias) != m.Items.Rows {
		return users, nil, &device.ShapeError{Op: "als.FoldIn",
			Operands: fmt.Sprintf("ratings %d×%d, item factors %d×%d", ratings.Rows, ratings.Cols, m.Items.Rows, m.Items.Cols),
			Want:     "one column of ratings per item of the model"}
	}
	k, width, unknowns := m.Rank, m.Rank, m.Rank
	if opt.Biases {
		width, unknowns = k+2, k+1
	}
	hx, hy := dense.New[T](ratings.Rows, width), dense.New[T](ratings.Cols, width)
	for i := range hy.Rows {
		copy(hy.Row(i), m.Items.Row(i))
		if opt.Biases {
			hy.Set(i, k, opt.BiasScale())
			hy.Set(i, k+1, m.ItemBias[i]) // meets the 1 of hx
		}
	}
	if opt.Biases {
		for u := range hx.Rows {
			hx.Set(u, k+1, 1)
		}
	}
	x, err := dense.Upload(dev, hx)
	if err != nil {
		return users, nil, err
	}
	defer x.Close()
	y, err := dense.Place(dev, hy)
	if err != nil {
		return users, nil, err
	}
	defer y.Close()
	pat, err := pattern.Upload(dev, &ratings.Pattern)
	if err != nil {
		return users, nil, err
	}
	defer pat.Close()
	given, err := opt.upload(dev, ratings.Val, m.Mean)
	if err != nil {
		return users, nil, err
	}
	s, err := newSide(pat, x, y, unknowns, given, opt.Shifts(ratings.RowPtr, opt.Implicit))
	if err != nil {
		return users, nil, err
	}
	defer s.close()
	// In exact arithmetic conjugate gradients end after as many steps as there are unknowns.
	if err := s.solve(ctx, 2*unknowns, opt.CGTol); err != nil {
		return users, nil, err
	}
	out, err := x.Download()
	if err != nil || !opt.Biases {
		return out, nil, err
	}
	return out.View(0, out.Rows, k).Clone(), fit.ScaledColumn(out, k, opt.BiasScale()), nil
}
