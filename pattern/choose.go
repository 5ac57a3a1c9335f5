package pattern

import (
	"context"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
)

// chooseKey is what a choice depends on, beside the pattern and the device.
type chooseKey struct {
	op      model.Op
	k, elem int
}

// smallWork is the number of products up to which a call is over before planning would pay.
const smallWork = 1 << 24

// Choose returns the tile that the model takes for an operation on the pattern with K = k and elements of
// elemBytes bytes. For SpMMT call it on the transpose. The first choice for which the rows of B do not
// fit in the cache next to a core looks at the whole pattern, and has the device measure its caches if
// nobody has on this machine (about a second, once; see device.Measurer). Choices are kept.
func (r *Resident) Choose(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	key := chooseKey{op, k, elemBytes}
	if c, ok := r.choices[key]; ok {
		return c, nil
	}
	c, err := r.choose(ctx, op, k, elemBytes)
	if err != nil {
		return c, err
	}
	if r.choices == nil {
		r.choices = map[chooseKey]model.Choice{}
	}
	r.choices[key] = c
	return c, nil
}

func (r *Resident) choose(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	props := r.dev.Props()
	if int64(r.Cols)*int64(k)*int64(elemBytes) <= props.L2Bytes {
		return model.Choice{Reason: "the rows of B fit in the cache next to a core"}, nil
	}
	if r.NNZ*int64(k) <= smallWork {
		return model.Choice{Reason: "the work is too small for planning to pay"}, nil
	}
	return r.Explain(ctx, op, k, elemBytes)
}

// Explain is Choose with all predictions, also where Choose would not look at the pattern.
func (r *Resident) Explain(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	props := r.dev.Props()
	var measured device.Measured
	if m, ok := r.dev.(device.Measurer); ok {
		var err error
		if measured, err = m.Measure(ctx, asm.Gather()); err != nil {
			return model.Choice{}, err
		}
	}
	if r.profile == nil {
		r.profile = model.NewProfile(r.host, r.threads())
	}
	return model.NewMachine(props, measured, max(r.threads(), 1)).Choose(op, r.profile, k, elemBytes), nil
}
