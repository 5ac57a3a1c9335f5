package conformance

import (
	"math"
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/conformance/kernels"
)

// shortFloat is a format of 16 bits with a sign, and its exact values.
type shortFloat struct {
	name     string
	exponent int // bits
	fraction int
}

var (
	binary16 = shortFloat{"half", 5, 10}
	bfloat16 = shortFloat{"bfloat16", 8, 7}
)

// infinity returns the bits of +∞; bits above are NaN.
func (f shortFloat) infinity() uint16 { return (1<<f.exponent - 1) << f.fraction }

// value returns the number that the bits say.
func (f shortFloat) value(u uint16) float64 {
	sign := 1.0
	if u>>15 != 0 {
		sign = -1
	}
	u &= 1<<15 - 1
	switch inf := f.infinity(); {
	case u == inf:
		return math.Inf(int(sign))
	case u > inf:
		return math.NaN()
	}
	bias := 1<<(f.exponent-1) - 1
	e, m := int(u>>f.fraction), float64(u&(1<<f.fraction-1))
	if e == 0 {
		return sign * math.Ldexp(m, 1-bias-f.fraction)
	}
	return sign * math.Ldexp(m+float64(uint(1)<<f.fraction), e-bias-f.fraction)
}

// nearest returns the bits of the number nearest to x, ties to even; x is not NaN. It looks for the neighbours of |x| among
// all numbers, with the one after the largest standing for infinity.
func (f shortFloat) nearest(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	inf := f.infinity()
	beyond := 2*f.value(inf-1) - f.value(inf-2)
	at := func(u uint16) float64 {
		if u == inf {
			return beyond
		}
		return f.value(u)
	}
	if x >= beyond {
		return sign | inf
	}
	lo, hi := uint16(0), inf // at(lo) ≤ x < at(hi)
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; at(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	below, above := x-at(lo), at(hi)-x
	if below < above || below == above && lo%2 == 0 {
		return sign | lo
	}
	return sign | hi
}

// hardToRound returns floats that are hard to round to 16 bits.
func hardToRound(n int) []float32 {
	x := make([]float32, n)
	rng := newRand(6)
	for i := range x {
		bits := rng.Uint32()
		switch i % 4 {
		case 1: // near a half, or in the middle of two
			bits = math.Float32bits(float32(binary16.value(uint16(i)))) ^ 1<<12 + uint32(rng.IntN(3)) - 1
		case 2: // in the middle of two bfloats, or next to that
			bits = bits&^0xffff | 0x7fff + uint32(rng.IntN(3))
		case 3: // of the size of halves
			bits = math.Float32bits(float32(math.Ldexp(rng.NormFloat64(), rng.IntN(44)-26)))
		}
		x[i] = math.Float32frombits(bits)
	}
	copy(x, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), 65504, 65519.996, 65520, -65520, 65536, math.MaxFloat32,
		0x1p-24, 0x1p-25, 0x1.000002p-25, 0x1.8p-24, 0x1p-14, 0x1.ffcp-15, math.SmallestNonzeroFloat32, float32(math.NaN()),
		math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff)})
	return x
}

// checkWidened compares numbers made of those with the bits u.
func (f shortFloat) checkWidened(t *testing.T, u []uint16, got []float32) {
	t.Helper()
	for i, got := range got {
		if want := f.value(u[i]); !same(float64(got), want) || math.Signbit(float64(got)) != (u[i]>>15 != 0) && want == want {
			t.Fatalf("%s %#04x is %v, want %v", f.name, u[i], got, want)
		}
	}
}

// checkRounded compares the bits of numbers made of x.
func (f shortFloat) checkRounded(t *testing.T, x []float32, got []uint16) {
	t.Helper()
	for i, got := range got {
		if x[i] != x[i] {
			if !math.IsNaN(f.value(got)) {
				t.Fatalf("%s of NaN is %#04x", f.name, got)
			}
		} else if want := f.nearest(float64(x[i])); got != want {
			t.Fatalf("%s of %v (%#08x) is %#04x, want %#04x", f.name, x[i], math.Float32bits(x[i]), got, want)
		}
	}
}

// launchConvert converts every number of 16 bits, and floats that are hard to round.
func launchConvert(t *testing.T, dev device.Launcher) {
	const n = 1 << 16
	u, x := count[uint16](n), hardToRound(n)
	du, dx := between(t, dev, 1, u), between(t, dev, 1, x)
	nan := constant(n, float32(math.NaN()))
	halfFloat, bfloatFloat := between(t, dev, 1, nan), between(t, dev, 2, nan)
	floatHalf, floatBfloat := between(t, dev, 3, make([]uint16, n)), between(t, dev, 4, make([]uint16, n))
	must(t, compile(t, dev, kernels.Convert).Launch(n/kernels.Threads, kernels.Threads, 0, du.Arg(), dx.Arg(),
		halfFloat.Arg(), bfloatFloat.Arg(), floatHalf.Arg(), floatBfloat.Arg(), device.Value(int64(n))))

	binary16.checkWidened(t, u, halfFloat.read(t, "from half"))
	binary16.checkRounded(t, x, floatHalf.read(t, "to half"))
	bfloat16.checkWidened(t, u, bfloatFloat.read(t, "from bfloat16"))
	bfloat16.checkRounded(t, x, floatBfloat.read(t, "to bfloat16"))
}
