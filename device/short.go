package device

import "math"

// Short are the element types of 16 bits. They are for storage, half the bytes of a float32: what computes with them
// computes with the float32 that each of them is.
type Short interface {
	BFloat16 | Float16
	Float32() float32
}

// Real are the element types that stand for real numbers: what dense matrices hold.
type Real interface {
	float32 | float64 | BFloat16 | Float16
}

// BFloat16 is the upper half of a float32: its range with 8 bits of precision, a unit roundoff of 2⁻⁹ ≈ 0.002.
type BFloat16 uint16

// Float16 is a binary16 of IEEE 754: 11 bits of precision, a unit roundoff of 2⁻¹² ≈ 0.00024, for sizes from 2⁻¹⁴ ≈ 0.00006 to
// 65504. Smaller numbers lose precision and become zero below 2⁻²⁵, larger ones become infinite.
type Float16 uint16

// ToBFloat16 returns the BFloat16 nearest to x, ties to even. NaN stays NaN.
func ToBFloat16(x float32) BFloat16 {
	u := math.Float32bits(x)
	if x != x {
		return BFloat16(u>>16 | 0x40) // rounding could make it infinite
	}
	return BFloat16((u + 0x7fff + u>>16&1) >> 16)
}

// Float32 returns the number, exactly.
func (x BFloat16) Float32() float32 { return math.Float32frombits(uint32(x) << 16) }

// Bits of float32 where ToFloat16 changes its way.
const (
	float16Least = 0x38800000 // 2⁻¹⁴, the least with full precision
	float16Over  = 0x477ff000 // 65520, halfway from the largest to 2¹⁶
	infinityBits = 0x7f800000
)

// ToFloat16 returns the Float16 nearest to x, ties to even. NaN stays NaN, and from 65520 on numbers become infinite.
func ToFloat16(x float32) Float16 {
	u := math.Float32bits(x)
	sign := Float16(u >> 16 & 0x8000)
	switch u &= 0x7fffffff; {
	case u > infinityBits:
		return sign | 0x7e00
	case u >= float16Over:
		return sign | 0x7c00
	case u < float16Least:
		// From 1/2 to 1 float32 has a spacing of 2⁻²⁴, as Float16 has it here: the sum rounds.
		return sign | Float16(math.Float32bits(math.Float32frombits(u)+0.5)-math.Float32bits(0.5))
	}
	u += 0xfff + u>>13&1
	return sign | Float16((u-(127-15)<<23)>>13) // with Float16's bias of the exponent
}

// Float32 returns the number, exactly.
func (x Float16) Float32() float32 {
	sign := uint32(x&0x8000) << 16
	switch u := uint32(x & 0x7fff); {
	case u >= 0x7c00: // infinity and NaN
		return math.Float32frombits(sign | infinityBits | u<<13&0x7fffff)
	case u < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(u)*0x1p-24))
	default:
		return math.Float32frombits(sign | (u<<13 + (127-15)<<23))
	}
}

// ToShort returns the E nearest to x, as ToBFloat16 and ToFloat16 do.
func ToShort[E Short](x float32) E {
	if _, ok := any(E(0)).(Float16); ok {
		return E(ToFloat16(x))
	}
	return E(ToBFloat16(x))
}
