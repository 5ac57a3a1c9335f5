package conformance

import (
	"math"
	"testing"
	"unsafe"

	"sddmmkit/sddmm"
)

const (
	unit32 = 0x1p-24 // u of float32
	unit64 = 0x1p-53 // u of float64
)

// unit returns u, the largest relative error of one rounding to T.
func unit[T Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return unit32
	}
	return unit64
}

// gamma returns γ_n = n·u/(1−n·u): the relative error of n roundings in a row is at most γ_n. A
// sum of n products in any order, with or without fused multiply-add, is within γ_n·Σ|a||b|,
// because no product passes through more than n roundings.
func gamma(n int, u float64) float64 { return float64(n) * u / (1 - float64(n)*u) }

// referenceShare is the factor by which a bound grows because the yardstick is rounded too, in
// float64: 2 for float64 and next to nothing for float32.
func referenceShare[T Float]() float64 { return 1 + unit64/unit[T]() }

// sddmmBound bounds the error of α·f(s, d) + β·p, where d is a dot product of k terms whose
// absolute values add up to mag. The roundings on the longest path are k of the dot product, at
// most 2 of α·f, and 2 of β·p and the last sum.
//
// Dot, Scale and Residual are sums of products, so the bound is γ_{k+4} times the sum of absolute
// values. Quotient divides by d̂ = d + e with |e| ≤ γ_k·mag, which changes s/d by the relative
// amount ρ = r/(1−r) with r = γ_k·mag/|d|; it is infinite where d is lost in rounding (r ≥ 1/2).
func sddmmBound[T Float](f sddmm.Epilogue, k int, alpha, s, d, mag, beta, prev float64) float64 {
	u := unit[T]()
	var size, cond float64
	if beta != 0 {
		size = math.Abs(beta * prev)
	}
	if alpha != 0 {
		alpha, s = math.Abs(alpha), math.Abs(s)
		switch f {
		case sddmm.Dot:
			size += alpha * mag
		case sddmm.Scale:
			size += alpha * s * mag
		case sddmm.Residual:
			size += alpha * (s + mag)
		case sddmm.Quotient:
			r := gamma(k, u) * mag / math.Abs(d)
			if !(r < 0.5) {
				return math.Inf(1)
			}
			rho := r / (1 - r)
			cond = alpha * s / math.Abs(d) * rho
			size += alpha * s / math.Abs(d) * (1 + rho)
		}
	}
	return (gamma(k+4, u)*size + cond) * referenceShare[T]()
}

// spmmBound bounds the error of an element of α·S·B + β·C to which terms non-zeros contribute and
// whose terms add up to mag in absolute value. The roundings on the longest path are 2 of α·s·b, one
// addition per term, one of a piece of a long row that starts from zero, and 1 of β·c.
func spmmBound[T Float](terms int, mag float64) float64 {
	return gamma(terms+4, unit[T]()) * mag * referenceShare[T]()
}

// near reports whether got is within bound of want; NaN and infinities must be the same.
func near(got, want, bound float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return same(got, want)
	}
	return math.Abs(got-want) <= bound
}

// same reports equality, with NaN equal to NaN and −0 to 0.
func same(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want)
}

// sameBits fails the test unless a and b hold the same bits.
func sameBits[T Float](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		// A float32 NaN keeps its payload as a float64.
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("%s: element %d is %v, want the very bits of %v", what, i, got[i], want[i])
		}
	}
}
