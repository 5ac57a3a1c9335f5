package fit

import (
	"errors"
	"math"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// mapped is the number of values that Upload has on the host at a time.
const mapped = 1 << 22

// Upload puts f of vals on dev: f sets the elements of dst from those of src, a part of vals, and is called for several parts
// at the same time. The host does not get memory for all of them, which takes it longer than f.
func Upload[T sparse.Float](dev device.Device, vals []T, f func(dst, src []T)) (*device.Buffer[T], error) {
	n := int64(len(vals))
	buf, err := device.Alloc[T](dev, n)
	if err != nil {
		return nil, err
	}
	all := buf.Host()
	var some []T
	if all == nil {
		some = make([]T, min(mapped, n))
	}
	for lo := int64(0); lo < n; lo += mapped {
		hi := min(lo+mapped, n)
		dst := some[:min(hi-lo, int64(len(some)))]
		if all != nil {
			dst = all[lo:hi]
		}
		parallel.Ranges(0, hi-lo, func(_ int, from, to int64) { f(dst[from:to], vals[lo+from:lo+to]) })
		if all != nil {
			continue
		}
		if err := buf.View(lo, hi).Upload(dst); err != nil {
			return nil, errors.Join(err, buf.Close())
		}
	}
	return buf, nil
}

// UploadMinus puts vals − c on dev.
func UploadMinus[T sparse.Float](dev device.Device, vals []T, c float64) (*device.Buffer[T], error) {
	if c == 0 {
		return device.FromHost(dev, vals)
	}
	return Upload(dev, vals, func(dst, src []T) {
		for z, v := range src {
			dst[z] = T(float64(v) - c)
		}
	})
}

// sumBlock is the number of values that SumBlocks adds up in one go. It is a constant, so that sums do not depend on the
// number of threads.
const sumBlock = 1 << 16

// SumBlocks returns the sum of n values, by blocks and then over these, from first to last; block returns that of values [lo, hi).
func SumBlocks(n int64, block func(lo, hi int64) float64) float64 {
	part := make([]float64, (n+sumBlock-1)/sumBlock)
	parallel.Ranges(0, int64(len(part)), func(_ int, lo, hi int64) {
		for b := lo; b < hi; b++ {
			part[b] = block(b*sumBlock, min((b+1)*sumBlock, n))
		}
	})
	var s float64
	for _, p := range part {
		s += p
	}
	return s
}

// Sum returns Σ vals, taken in float64.
func Sum[T sparse.Float](vals []T) float64 {
	return SumBlocks(int64(len(vals)), func(lo, hi int64) (s float64) {
		for _, v := range vals[lo:hi] {
			s += float64(v)
		}
		return s
	})
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
