package device_test

import (
	"fmt"
	"math"
	"testing"

	"sddmmkit/device"
)

// Package conformance holds conversions of whole matrices against a table of all numbers; here are those that are easy
// to look up.
func TestShort(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		x    float32
		b    device.BFloat16
		h    device.Float16
		b32  float32 // what they are
		half float32
	}{
		{0, 0, 0, 0, 0},
		{1, 0x3f80, 0x3c00, 1, 1},
		{-2, 0xc000, 0xc000, -2, -2},
		{1.0 / 3, 0x3eab, 0x3555, 0.333984375, 0.333251953125},
		{65504, 0x4780, 0x7bff, 65536, 65504},
		{65520, 0x4780, 0x7c00, 65536, inf},
		{0x1p-24, 0x3380, 0x0001, 0x1p-24, 0x1p-24},
		{0x1p-25, 0x3300, 0, 0x1p-25, 0},
		{inf, 0x7f80, 0x7c00, inf, inf},
		{math.MaxFloat32, 0x7f80, 0x7c00, inf, inf},
	} {
		b, h := device.ToShort[device.BFloat16](c.x), device.ToShort[device.Float16](c.x)
		if b != c.b || h != c.h || b.Float32() != c.b32 || h.Float32() != c.half {
			t.Errorf("%v: %#04x = %v and %#04x = %v, want %#04x = %v and %#04x = %v", c.x, b, b.Float32(), h, h.Float32(), c.b, c.b32, c.h, c.half)
		}
	}
	for _, bits := range []uint32{0x7f800001, 0x7fffffff, 0xff800001, math.Float32bits(nan)} {
		x := math.Float32frombits(bits)
		if b, h := device.ToBFloat16(x).Float32(), device.ToFloat16(x).Float32(); b == b || h == h {
			t.Errorf("NaN %#08x became %v and %v", bits, b, h)
		}
	}
}

func ExampleToFloat16() {
	pi := float32(math.Pi)
	fmt.Println(device.ToFloat16(pi).Float32(), device.ToBFloat16(pi).Float32())
	// Output: 3.140625 3.140625
}
