package fit

import (
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Subtract returns vals − c: for c = 0 vals itself, which must not be changed then.
func Subtract[T sparse.Float](vals []T, c float64) []T {
	if c == 0 {
		return vals
	}
	out := make([]T, len(vals))
	parallel.Ranges(0, int64(len(vals)), func(_ int, lo, hi int64) {
		for z := lo; z < hi; z++ {
			out[z] = T(float64(vals[z]) - c)
		}
	})
	return out
}

// sumBlock is the number of values that Sum adds up in one go. It is a constant, so that sums do not depend on the
// number of threads.
const sumBlock = 1 << 16

// Sum returns Σ vals, taken in float64, by blocks and then over these, from first to last.
func Sum[T sparse.Float](vals []T) float64 {
	part := make([]float64, (len(vals)+sumBlock-1)/sumBlock)
	parallel.Ranges(0, int64(len(part)), func(_ int, lo, hi int64) {
		for b := lo; b < hi; b++ {
			for _, v := range vals[b*sumBlock : min((b+1)*sumBlock, int64(len(vals)))] {
				part[b] += float64(v)
			}
		}
	})
	var s float64
	for _, p := range part {
		s += p
	}
	return s
}

// scale returns the lowest and the highest rating; all of them are numbers.
func scale[T sparse.Float](vals []T) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	ends := make([][2]T, parallel.Threads(0))
	if len(vals) == 0 {
		return low, high
	}
	for p := range ends {
		ends[p] = [2]T{vals[0], vals[0]}
	}
	parallel.Ranges(len(ends), int64(len(vals)), func(p int, lo, hi int64) {
		l, h := vals[lo], vals[lo]
		for _, v := range vals[lo:hi] {
			if v < l {
				l = v
			}
			if v > h {
				h = v
			}
		}
		ends[p] = [2]T{l, h}
	})
	for _, e := range ends {
		low, high = min(low, float64(e[0])), max(high, float64(e[1]))
	}
	return low, high
}
