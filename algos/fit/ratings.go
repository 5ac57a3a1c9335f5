package fit

import (
	"math"

	"sddmmkit/sparse"
)

// Subtract returns vals − c.
func Subtract[T sparse.Float](vals []T, c float64) []T {
	out := make([]T, len(vals))
	for z, v := range vals {
		out[z] = T(float64(v) - c)
	}
	return out
}

// Sum returns Σ vals, taken in float64 from first to last.
func Sum[T sparse.Float](vals []T) float64 {
	var s float64
	for _, v := range vals {
		s += float64(v)
	}
	return s
}

// scale returns the lowest and the highest rating.
func scale[T sparse.Float](vals []T) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range vals {
		low, high = min(low, float64(v)), max(high, float64(v))
	}
	return low, high
}
