package conformance

import (
	"math"
	"testing"

	"sddmmkit/device"
)

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
func sameBits[T device.Elem](t *testing.T, what string, got, want []T) {
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
