// Package errbound bounds the rounding errors of SDDMM, SpMM and some row-wise operations: what separates a
// result that was computed in another order from one that is wrong.
//
// The bounds are those of Higham, Accuracy and Stability of Numerical Algorithms, chapter 3. A sum
// of n products in any order, with or without fused multiply-add, is within γ_n·Σ|a||b| of the exact
// one, because no product passes through more than n roundings.
package errbound

import (
	"math"
	"unsafe"

	"sddmmkit/sddmm"
)

const (
	unit32 = 0x1p-24 // u of float32
	unit64 = 0x1p-53 // u of float64
)

// Unit returns u, the largest relative error of one rounding to T.
func Unit[T sddmm.Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return unit32
	}
	return unit64
}

// Gamma returns γ_n = n·u/(1−n·u): the relative error of n roundings in a row is at most γ_n.
func Gamma(n int, u float64) float64 { return float64(n) * u / (1 - float64(n)*u) }

// ReferenceShare is the factor by which a bound grows because the yardstick is rounded too, in
// float64: 2 for float64 and next to nothing for float32.
func ReferenceShare[T sddmm.Float]() float64 { return 1 + unit64/Unit[T]() }

// SDDMM bounds the error of α·f(s, d) + β·p, where d is a dot product of k terms whose absolute
// values add up to mag. The roundings on the longest path are k of the dot product, at most 2 of
// α·f, and 2 of β·p and the last sum.
//
// Dot, Scale and Residual are sums of products, so the bound is γ_{k+4} times the sum of absolute
// values. Quotient divides by d̂ = d + e with |e| ≤ γ_k·mag, which changes s/d by the relative
// amount ρ = r/(1−r) with r = γ_k·mag/|d|; it is infinite where d is lost in rounding (r ≥ 1/2).
func SDDMM[T sddmm.Float](f sddmm.Epilogue, k int, alpha, s, d, mag, beta, prev float64) float64 {
	u := Unit[T]()
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
			r := Gamma(k, u) * mag / math.Abs(d)
			if !(r < 0.5) {
				return math.Inf(1)
			}
			rho := r / (1 - r)
			cond = alpha * s / math.Abs(d) * rho
			size += alpha * s / math.Abs(d) * (1 + rho)
		}
	}
	return (Gamma(k+4, u)*size + cond) * ReferenceShare[T]()
}

// SpMM bounds the error of an element of α·S·B + β·C to which terms non-zeros contribute and whose
// terms add up to mag in absolute value. The roundings on the longest path are 2 of α·s·b, one
// addition per term, one of a piece of a long row that starts from zero, and 1 of β·c.
func SpMM[T sddmm.Float](terms int, mag float64) float64 {
	return Gamma(terms+4, Unit[T]()) * mag * ReferenceShare[T]()
}

// ExpDigamma bounds the relative error of exp(ψ(x)) for x > 0, computed in T as package dense does: y·exp(t) with
// t = near(y) − Σ_{i<n} 1/(x+i), where Σ is recip, n = 4 for float32 and 10 for float64.
//
// Σ is (2x+n−1)·Σ 1/(x(x+n−1)+c) with positive terms only: 3 roundings of a denominator, one division (5u by OpenCL,
// which allows 2.5 units in the last place), 4 sums, 1 factor, 1 product. The last rounding of t and |near| < 0.004 with its
// truncation, below 0.5u, add less than 1u·Σ + 1u. So t is off by (15·Σ + 1)·u, and exp, 6u by OpenCL, y and the product add 8u.
func ExpDigamma[T sddmm.Float](recip float64) float64 {
	return Gamma(int(math.Ceil(15*recip))+9, Unit[T]())
}
