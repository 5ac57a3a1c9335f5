package als

import (
	"fmt"
	"math"
	"strconv"

	"sddmmkit/algos/fit"
	"sddmmkit/factors"
	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// targets returns r − μ and nil, or for implicit feedback c∘p and c − 1.
func (o *Options[T]) targets(vals []T, mean float64) (target, extra []T) {
	if !o.Implicit {
		return fit.Subtract(vals, mean), nil
	}
	target, extra = make([]T, len(vals)), make([]T, len(vals))
	parallel.Ranges(0, int64(len(vals)), func(_ int, lo, hi int64) {
		for z := lo; z < hi; z++ {
			e := o.Alpha * math.Abs(float64(vals[z]))
			extra[z] = T(e)
			if vals[z] > 0 {
				target[z] = T(1 + e)
			}
		}
	})
	return target, extra
}

// Names under which a model remembers what is particular to ALS; the others are fit's.
const (
	metaAlpha = "alpha"
	metaSteps = "cg_steps"
)

func (o *Options[T]) meta() map[string]string {
	m := o.Meta(o.Implicit)
	m[metaSteps] = strconv.Itoa(o.CGSteps)
	if o.Implicit {
		m[metaAlpha] = strconv.FormatFloat(o.Alpha, 'g', -1, 64)
	}
	return m
}

// optionsOf returns the options of the system that the factors of m solve.
func optionsOf[T sparse.Float](m *factors.Model[T]) (Options[T], error) {
	o := DefaultOptions[T]()
	o.Rank, o.Implicit, o.Biases = m.Rank, m.Implicit, m.UserBias != nil
	var err error
	number := func(name string) float64 {
		v, e := strconv.ParseFloat(m.Meta[name], 64)
		if e != nil || !(v >= 0) || math.IsInf(v, 0) {
			err = fmt.Errorf("als: the model's %s is %q; want a finite number ≥ 0, as training writes it", name, m.Meta[name])
		}
		return v
	}
	o.Lambda = number(fit.MetaLambda)
	if m.Implicit {
		o.Alpha = number(metaAlpha)
	}
	if o.Biases {
		o.BiasLambda = number(fit.MetaBiasLambda)
	}
	o.Regularization = fit.Plain
	if m.Meta[fit.MetaWeighted] == "true" {
		o.Regularization = fit.Weighted
	}
	return o, err
}
