package bench

import (
	"errors"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/parallel"
	"sddmmkit/sddmm"
)

// The dense operands are made by a formula that a peer in another language can repeat to the bit:
// element e of operand o is ½ + (mix(seed + o·2⁵⁶ + e) >> 41)·2⁻²³, a number in [½, 3/2) that
// both float32 and float64 hold exactly. All are positive, so that quotients are well conditioned.
const (
	operandA = 1
	operandB = 2
)

// mix is the output function of SplitMix64 (Steele, Lea, Flood, 2014) after one step from x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fill sets m to operand o.
func fill[T sddmm.Float](m dense.Matrix[T], o, seed uint64) {
	parallel.Ranges(0, int64(len(m.Data)), func(_ int, lo, hi int64) {
		for e := lo; e < hi; e++ {
			m.Data[e] = T(0.5 + float64(mix(seed+o<<56+uint64(e))>>41)*0x1p-23)
		}
	})
}

// operand returns operand o on the host. On a device that the host addresses it is the device's own memory,
// which is what solvers compute on: it may be better placed than other memory.
func (p *problem[T]) operand(dev device.Device, rows, cols int, o, seed uint64) (dense.Matrix[T], error) {
	if _, ok := dev.(device.Host); !ok {
		m := dense.New[T](rows, cols)
		fill(m, o, seed)
		return m, nil
	}
	r, err := dense.Alloc[T](dev, rows, cols)
	if err != nil {
		return dense.Matrix[T]{}, err
	}
	p.owned = append(p.owned, r)
	m := r.Host()
	fill(m, o, seed)
	return m, nil
}

// close frees the operands.
func (p *problem[T]) close() error {
	var errs []error
	for _, r := range p.owned {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
