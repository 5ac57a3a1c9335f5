package fit

import (
	"context"
	"errors"
	"math"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// validator scores a solver's present state on held-out data: ratings by RMSE, on the solver's
// device; implicit feedback by NDCG@20 among the items that a user has not seen in training.
type validator[T sparse.Float] struct {
	solver Solver[T]
	train  *sparse.CSR[T]
	test   *sparse.CSR[T] // nil: nothing to score

	pat         *pattern.Resident
	plan        *sddmm.Plan[T]
	target, err *device.Buffer[T] // ratings − μ, residuals
}

func newValidator[T sparse.Float](s Solver[T], train, test *sparse.CSR[T]) (v *validator[T], err error) {
	v = &validator[T]{solver: s, train: train}
	if test == nil || test.NNZ() == 0 {
		return v, nil
	}
	v.test = test
	defer func() {
		if err != nil {
			v.close()
			v = nil
		}
	}()
	x, _, mean := s.Factors()
	dev := x.Device()
	if v.pat, err = pattern.Upload(dev, &test.Pattern); err != nil {
		return v, err
	}
	if v.plan, err = sddmm.NewPlan[T](v.pat); err != nil {
		return v, err
	}
	if v.target, err = UploadMinus(dev, test.Val, mean); err != nil {
		return v, err
	}
	v.err, err = device.Alloc[T](dev, v.pat.NNZ)
	return v, err
}

func (v *validator[T]) close() error {
	err := errors.Join(v.pat.Close(), v.target.Close(), v.err.Close())
	if v.plan != nil {
		err = errors.Join(err, v.plan.Close())
	}
	return err
}

func (v *validator[T]) score(ctx context.Context) (float64, Metric, error) {
	if v.test == nil {
		return math.NaN(), "", nil
	}
	metric := v.solver.Metric()
	if metric == RMSE {
		x, y, _ := v.solver.Factors()
		rmse, err := ResidualRMSE(ctx, v.plan, v.target, x, y, v.err)
		return rmse, metric, err
	}
	m, err := v.solver.Model()
	if err != nil {
		return 0, metric, err
	}
	r, err := factors.Evaluate(ctx, m, &v.train.Pattern, &v.test.Pattern, factors.EvaluateOptions{N: 20})
	return r.NDCG, metric, err
}

// ResidualRMSE returns the root mean square of target − ⟨x_i, y_j⟩ on the plan's pattern and leaves
// the residuals in res.
func ResidualRMSE[T sparse.Float](ctx context.Context, plan *sddmm.Plan[T], target *device.Buffer[T], x, y *dense.Resident[T], res *device.Buffer[T]) (float64, error) {
	if err := plan.Run(ctx, sddmm.Residual, 1, target, x, y, 0, res); err != nil {
		return 0, err
	}
	sum, err := dense.Dot(ctx, res, res)
	return math.Sqrt(sum / float64(res.Len())), err
}
