package als

import (
	"fmt"
	"math"
	"strconv"

	"sddmmkit/algos/fit"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// weighted reports whether λ is multiplied with the number of ratings.
func (o *Options[T]) weighted() bool {
	return o.Regularization == fit.Weighted || o.Regularization == fit.ByFeedback && !o.Implicit
}

// targets returns r − μ and nil, or for implicit feedback c∘p and c − 1.
func (o *Options[T]) targets(vals []T, mean float64) (target, extra []T) {
	if !o.Implicit {
		return fit.Subtract(vals, mean), nil
	}
	target, extra = make([]T, len(vals)), make([]T, len(vals))
	for z, r := range vals {
		e := o.Alpha * math.Abs(float64(r))
		extra[z] = T(e)
		if r > 0 {
			target[z] = T(1 + e)
		}
	}
	return target, extra
}

// shifts returns λ·n or λ for every row of p.
func (o *Options[T]) shifts(p *sparse.Pattern) []T {
	shift := make([]T, p.Rows)
	for i := range shift {
		shift[i] = T(o.Lambda)
		if o.weighted() {
			shift[i] = T(o.Lambda * float64(len(p.Row(i))))
		}
	}
	return shift
}

// biasLambda returns the λ of the biases.
func (o *Options[T]) biasLambda() float64 {
	if o.BiasLambda == 0 {
		return o.Lambda / 2
	}
	return o.BiasLambda
}

// biasScale returns the value s of the constant column. The bias column holds b/s, so that
// λ·(b/s)² is biasLambda·b².
func (o *Options[T]) biasScale() T {
	if o.Lambda == 0 {
		return 1
	}
	return T(math.Sqrt(o.Lambda / o.biasLambda()))
}

// Names under which a model remembers the system that its factors solve.
const (
	metaLambda   = "lambda"
	metaWeighted = "weighted"
	metaAlpha    = "alpha"
	metaBias     = "bias_lambda"
	metaSeed     = "seed"
	metaSteps    = "cg_steps"
)

func (o *Options[T]) meta() map[string]string {
	m := map[string]string{
		metaLambda:   strconv.FormatFloat(o.Lambda, 'g', -1, 64),
		metaWeighted: strconv.FormatBool(o.weighted()),
		metaSeed:     strconv.FormatUint(o.Seed, 10),
		metaSteps:    strconv.Itoa(o.CGSteps),
	}
	if o.Implicit {
		m[metaAlpha] = strconv.FormatFloat(o.Alpha, 'g', -1, 64)
	}
	if o.Biases {
		m[metaBias] = strconv.FormatFloat(o.biasLambda(), 'g', -1, 64)
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
			err = fmt.Errorf("als: the model's %s is %q; want a finite number ≥ 0, as als.Train writes it", name, m.Meta[name])
		}
		return v
	}
	o.Lambda = number(metaLambda)
	if m.Implicit {
		o.Alpha = number(metaAlpha)
	}
	if o.Biases {
		o.BiasLambda = number(metaBias)
	}
	o.Regularization = fit.Plain
	if m.Meta[metaWeighted] == "true" {
		o.Regularization = fit.Weighted
	}
	return o, err
}
