package als

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// confidence returns α·|r|, which is c − 1 of implicit feedback.
func (o *Options[T]) confidence(r T) float64 { return o.Alpha * math.Abs(float64(r)) }

// weight returns c∘p of implicit feedback.
func (o *Options[T]) weight(r T) T {
	if r > 0 {
		return T(1 + o.confidence(r))
	}
	return 0
}

// cells returns Σ c∘p over the stored cells.
func (o *Options[T]) cells(vals []T) float64 {
	return fit.SumBlocks(int64(len(vals)), func(lo, hi int64) (s float64) {
		for _, v := range vals[lo:hi] {
			s += float64(o.weight(v))
		}
		return s
	})
}

// upload puts what there is to explain on a device, in the order of vals.
func (o *Options[T]) upload(dev device.Device, vals []T, mean float64) (f feedback[T], err error) {
	if !o.Implicit {
		f.target, err = fit.UploadMinus(dev, vals, mean)
		return f, err
	}
	if f.target, err = fit.Upload(dev, vals, func(dst, src []T) {
		for z, v := range src {
			dst[z] = o.weight(v)
		}
	}); err != nil {
		return f, err
	}
	if f.extra, err = fit.Upload(dev, vals, func(dst, src []T) {
		for z, v := range src {
			dst[z] = T(o.confidence(v))
		}
	}); err != nil {
		err = errors.Join(err, f.close())
	}
	return f, err
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
