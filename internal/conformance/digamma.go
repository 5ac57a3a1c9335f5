package conformance

import (
	"context"
	"math"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
)

// expDigammaReference returns exp(ψ(x)) for x > 0 in float64, and a bound on its own relative error.
//
// Below 1000 it takes ψ(x) = ψ(x+n) − Σ 1/(x+i) with x+n ≥ 20, and log z − 1/2z − Σ B_2k/(2k·z^2k), DLMF 5.11.2: each of
// 21 terms is rounded at most 22 times, and log z < 7, and exp, a few times more. Above, it takes
// z + 1/24z − 37/5760z³ with z = x − 1/2, whose next term is below z·10⁻²⁰.
func expDigammaReference(x float64) (value, bound float64) {
	u := errbound.Unit[float64]()
	if x > 1000 {
		z := x - 0.5
		return z + 1/(24*z) - 37/(5760*z*z*z), errbound.Gamma(4, u)
	}
	var recip float64
	z := x
	for ; z < 20; z++ {
		recip += 1 / z
	}
	w := 1 / (z * z)
	tail := w * (1.0/12 - w*(1.0/120-w*(1.0/252-w*(1.0/240-w*(1.0/132-w*691.0/32760)))))
	value = math.Exp(math.Log(z) - 1/(2*z) - tail - recip)
	return value, errbound.Gamma(22*(int(recip)+2)+20, u)
}

// shortSum returns Σ_{i<n} 1/(x+i) for the n of errbound.ExpDigamma.
func shortSum[T Float](x float64) float64 {
	n := 10
	if errbound.Unit[T]() == errbound.Unit[float32]() {
		n = 4
	}
	var sum float64
	for i := range n {
		sum += 1 / (x + float64(i))
	}
	return sum
}

func expDigamma[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	// Whole and half numbers, and around the switch to x − 1/2 for both types.
	some := []T{0.001, 0.01, 0.25, 0.5, 1, 1.4616321, 1.5, 2, 2.5, 3, 10, 19.5, 20, 999, 1000.5, 99999992, 1.0000001e8, 9.9e15, 1.1e16, 1e30}
	all := []dense.Matrix[T]{values(some)}
	for n, size := range denseSizes {
		all = append(all, matrix(newRand(uint64(n)), size[0], size[1], func(rng *randT) T { return T(math.Pow(10, -2.5+12*rng.Float64())) }))
	}
	for n, m := range all {
		x := input(t, dev, m, n%3, n%2)
		dst := output(t, dev, matrix(newRand(0), m.Rows, m.Cols, func(*randT) T { return T(math.NaN()) }), n%4, 1)
		must(t, dense.ExpDigamma(ctx, dst.Resident, x.Resident))
		x.unchanged(t, "X")
		got := dst.read(t, "dst")
		for i, v := range m.Data {
			want, own := expDigammaReference(float64(v))
			bound := (errbound.ExpDigamma[T](shortSum[T](float64(v)))+own)*want + smallestNormal[T]() // below which a device may round to zero
			if !near(float64(got.Data[i]), want, bound) {
				t.Fatalf("exp(ψ(%v)) is %v, want %v within %.3g", v, got.Data[i], want, bound)
			}
		}
		in := output(t, dev, m, 0, 1)
		must(t, dense.ExpDigamma(ctx, in.Resident, in.Resident))
		sameBits(t, "ExpDigamma in place", in.read(t, "dst").Data, got.Data)
		for _, o := range []*operand[T]{x, dst, in} {
			o.close()
		}
	}

	limits := []T{0, T(math.Inf(1)), T(math.NaN())}
	x := output(t, dev, values(limits), 0, 0)
	must(t, dense.ExpDigamma(ctx, x.Resident, x.Resident))
	for n, v := range x.read(t, "dst").Data {
		if !same(float64(v), float64(limits[n])) {
			t.Errorf("exp(ψ(%v)) is %v, want %v", limits[n], v, limits[n])
		}
	}
	x.close()
}

// smallestNormal returns the smallest normal number.
func smallestNormal[T Float]() float64 {
	if errbound.Unit[T]() == errbound.Unit[float32]() {
		return 0x1p-126
	}
	return 0x1p-1022
}
