package dense

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// Known values of ψ: ψ(1) = −γ, ψ(1/2) = −γ − 2·log 2, ψ(1/4) = −γ − π/2 − 3·log 2 (DLMF 5.4), and from each of them
// those at a distance of whole numbers. Conformance compares the rest with another formula.
func TestExpDigammaKnown(t *testing.T) {
	const gamma = 0.57721566490153286060651209008240243
	for x, psi := range map[float64]float64{1: -gamma, 0.5: -gamma - 2*math.Ln2, 0.25: -gamma - math.Pi/2 - 3*math.Ln2} {
		for ; x < 300; x++ {
			want := math.Exp(psi)
			// Each step rounds psi, which stays below 6, and a reciprocal; 100 roundings are the function's own.
			if got := expDigamma(x); math.Abs(got/want-1) > (100+7*x)*0x1p-53 {
				t.Fatalf("exp(ψ(%v)) = %v, want %v", x, got, want)
			}
			psi += 1 / x
		}
	}
}

// gonum's Digamma cuts the same series off at y = 6.5 after four terms; the fifth, 511/67584·y⁻¹⁰, is 5.6e-11 there.
func TestExpDigammaAgainstGonum(t *testing.T) {
	for x := 1e-2; x < 1e12; x *= 1.003 {
		psi := mathext.Digamma(x)
		rounding := (1/x + math.Abs(psi) + 10) * 20 * 0x1p-53
		if got, want := expDigamma(x), math.Exp(psi); math.Abs(got/want-1) > 5.7e-11+rounding {
			t.Fatalf("exp(ψ(%v)) = %v, gonum says %v", x, got, want)
		}
	}
}
