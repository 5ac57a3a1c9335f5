package conformance

import (
	"math"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// inputShort rounds a matrix to 16 bits and places it among NaN.
func inputShort[E device.Short](t *testing.T, dev device.Device, m dense.Matrix[float32], gap, lead int) *operand[E] {
	t.Helper()
	return place(t, dev, dense.Rounded[E](m), gap, lead, device.ToShort[E](float32(math.NaN())))
}

// shorten rounds what a matrix holds to what 16 bits hold.
func shorten[E device.Short](m dense.Matrix[float32]) dense.Matrix[float32] {
	return dense.Widened(dense.Rounded[E](m))
}

// layout says where rows of k elements stand: the guards after each and before the first. Every other one has all rows at
// multiples of 16 bytes, where kernels load 16 bytes at a time if k allows.
func layout(n, k, perLoad int) (gap, lead int) {
	if n%2 == 0 {
		return (perLoad-k%perLoad)%perLoad + perLoad*(n/2%2), perLoad * (n / 2 % 3)
	}
	return n % 3, n%5 + 1
}
