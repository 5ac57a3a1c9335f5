package errbound_test

import (
	"math"
	"testing"

	"sddmmkit/internal/errbound"
	"sddmmkit/sddmm"
)

func TestGamma(t *testing.T) {
	// One rounding of 1 + u(1−ε) is as wrong as γ_1 says, two are within γ_2.
	u := errbound.Unit[float32]()
	if g := errbound.Gamma(1, u); g <= u || g > u*1.0001 {
		t.Errorf("γ_1 = %g for float32", g)
	}
	if errbound.Gamma(1000, u) >= errbound.Gamma(1001, u) {
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
		bound := errbound.SDDMM[float32](f, k, 1, s, d, mag, 0, math.NaN())
		if math.Abs(got-want) > bound {
			t.Errorf("%v: an honest sum is off by %g, bound %g", f, got-want, bound)
		}
		if math.Abs(want*1e-4) <= bound {
			t.Errorf("%v: the bound %g passes an error of 1e-4 of %g", f, bound, want)
		}
	}
	if b := errbound.SDDMM[float32](sddmm.Quotient, k, 1, 1, 1e-9, 1, 0, 0); !math.IsInf(b, 1) {
		t.Errorf("a quotient by a dot product lost in rounding has the bound %g, want +Inf", b)
	}
}

// A sum of equal terms that are all rounded the same way comes close to its bound and stays within it.
func TestSpMM(t *testing.T) {
	const terms = 1000
	var sum float32
	var exact float64
	for range terms {
		sum += 0.1
		exact += float64(float32(0.1))
	}
	bound := errbound.SpMM[float32](terms, exact)
	if diff := math.Abs(float64(sum) - exact); diff > bound || diff < bound/1000 {
		t.Errorf("a sum of %d terms is off by %g, bound %g", terms, diff, bound)
	}
	if got, want := errbound.SpMM[float64](terms, 1), 2*errbound.Gamma(terms+4, errbound.Unit[float64]()); got != want {
		t.Errorf("float64: bound %g, want %g: the reference is rounded as much as the result", got, want)
	}
}
