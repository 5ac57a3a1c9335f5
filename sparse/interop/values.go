package interop

import (
	"fmt"
	"math"

	"sddmmkit/sparse"
)

// fromFloat64 returns the values as T: the same slice for float64.
func fromFloat64[T sparse.Float](v []float64) ([]T, error) {
	if same, ok := any(v).([]T); ok {
		return same[:len(same):len(same)], nil
	}
	out := make([]T, len(v))
	for q, x := range v {
		y, err := narrow[T](x)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", q, err)
		}
		out[q] = y
	}
	return out, nil
}

// toFloat64 returns the values as float64: the same slice for float64. Its capacity is its
// length, so that an insertion by the new owner allocates instead of moving shared values. It is
// never nil, which NewCOO takes for missing when the indices are not nil.
func toFloat64[T sparse.Float](v []T) []float64 {
	if v == nil {
		return []float64{}
	}
	if same, ok := any(v).([]float64); ok {
		return same[:len(same):len(same)]
	}
	out := make([]float64, len(v))
	for q, x := range v {
		out[q] = float64(x)
	}
	return out
}

// narrow converts one value; a finite one must stay finite.
func narrow[T sparse.Float](x float64) (T, error) {
	y := T(x)
	if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
		return 0, fmt.Errorf("%g is beyond the range of float32; use float64", x)
	}
	return y, nil
}
