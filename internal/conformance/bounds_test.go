package conformance

import (
	"math"
	"testing"

	"sddmmkit/sddmm"
)

func TestGamma(t *testing.T) {
	// One rounding of 1 + u(1−ε) is as wrong as γ_1 says, two are within γ_2.
	if g := gamma(1, unit32); g <= unit32 || g > unit32*1.0001 {
		t.Errorf("γ_1 = %g for float32", g)
	}
	if gamma(1000, unit64) >= gamma(1001, unit64) {
		t.Error("γ does not grow")
	}
}

// The bounds must be tight enough to see a dropped term and wide enough for an honest sum.
func TestBoundsSeeMistakes(t *testing.T) {
	const k = 100
	var d, mag float64
	var sum float32
	for i := range k {
		x := float32(math.Sin(float64(i + 1)))
		sum += x * x
		d += float64(x) * float64(x)
		mag += float64(x) * float64(x)
	}
	for _, f := range []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient} {
		want, got := d, float64(sum)
		const s = 3
		switch f {
		case sddmm.Scale:
			want, got = s*want, float64(s*sum)
		case sddmm.Residual:
			want, got = s-want, float64(s-sum)
		case sddmm.Quotient:
			want, got = s/want, float64(s/sum)
		}
		bound := sddmmBound[float32](f, k, 1, s, d, mag, 0, math.NaN())
		if !near(got, want, bound) {
			t.Errorf("%v: an honest sum is off by %g, bound %g", f, got-want, bound)
		}
		if near(want*(1+1e-4), want, bound) {
			t.Errorf("%v: the bound %g passes an error of 1e-4 of %g", f, bound, want)
		}
	}
	if b := sddmmBound[float32](sddmm.Quotient, k, 1, 1, 1e-9, 1, 0, 0); !math.IsInf(b, 1) {
		t.Errorf("a quotient by a dot product lost in rounding has the bound %g, want +Inf", b)
	}
}

func TestNear(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want, bound float64
		ok               bool
	}{
		{1, 1, 0, true}, {1, 1.1, 0.05, false}, {1, 1.1, 0.2, true}, {nan, nan, 0, true}, {nan, 1, 10, false}, {1, nan, 10, false},
		{inf, inf, 0, true}, {-inf, inf, 0, false}, {inf, 1, 10, false}, {1, inf, 10, false},
	} {
		if near(c.got, c.want, c.bound) != c.ok {
			t.Errorf("near(%g, %g, %g) = %t", c.got, c.want, c.bound, !c.ok)
		}
	}
}
