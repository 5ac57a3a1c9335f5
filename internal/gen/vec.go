package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type isa int

const (
	avx2 isa = iota
	avx512
)

// vec is an instruction set and an element type.
type vec struct {
	isa isa
	f64 bool
}

func (v vec) String() string {
	return map[bool]string{false: "f32", true: "f64"}[v.f64] + map[isa]string{avx2: "avx2", avx512: "avx512"}[v.isa]
}

// suffix ends the names of functions: F32AVX512.
func (v vec) suffix() string {
	return map[bool]string{false: "F32", true: "F64"}[v.f64] + map[isa]string{avx2: "AVX2", avx512: "AVX512"}[v.isa]
}

func (v vec) goType() string { return map[bool]string{false: "float32", true: "float64"}[v.f64] }

// elem is the size of an element, width that of a vector register, in bytes.
func (v vec) elem() int  { return map[bool]int{false: 4, true: 8}[v.f64] }
func (v vec) width() int { return map[isa]int{avx2: 32, avx512: 64}[v.isa] }
func (v vec) lanes() int { return v.width() / v.elem() }

// log returns the number of bits by which to shift for a factor of n, a power of two.
func (v vec) log(n int) operand.Op { return operand.U8(bits.TrailingZeros(uint(n))) }

// maxChunks is the number of vector registers that hold a block of a row of C.
func (v vec) maxChunks() int { return map[isa]int{avx2: 8, avx512: 16}[v.isa] }

// mostShort is the number of vectors of a row up to which a short last vector is loaded by itself: a load as wide as
// a whole vector reaches into the next cache line more often. In longer rows that weighs little.
const mostShort = 9

// mostLast is the number of vectors of the longest row whose last element lies apart: 129 elements, see model.LastApart.
const mostLast = 9

// kernels generates for one vec.
type kernels struct {
	*build.Context
	vec
	tables   map[string]operand.Mem
	distance reg.GPVirtual // of the function: rows of B between the prefetch of one and its use
	rest     reg.GPVirtual // the same for what follows firstBytes
}

func (k *kernels) reg() reg.VecVirtual {
	if k.isa == avx512 {
		return k.ZMM()
	}
	return k.YMM()
}

// narrow returns the part of a register that holds one result for each of rows, where there are masks for
// it: a masked load or store of a whole register reaches into the next cache line, and waits for it, even
// where the lanes there are off.
func (k *kernels) narrow(r reg.VecVirtual, rows int) reg.Register {
	switch bytes := rows * k.elem(); {
	case k.isa == avx2 || bytes >= k.width():
		return r
	}
	return part(r, rows*k.elem())
}

// part returns the first bytes of a register, 16, 32 or 64.
func part(r reg.VecVirtual, bytes int) reg.Register {
	switch bytes {
	case 64:
		return r.AsZ()
	case 32:
		return r.AsY()
	}
	return r.AsX()
}

// ps picks the single or the double form of an instruction.
func (k *kernels) ps(single, double func(...operand.Op)) func(...operand.Op) {
	if k.f64 {
		return double
	}
	return single
}

func (k *kernels) add(a, b, dst operand.Op) { k.ps(k.VADDPS, k.VADDPD)(a, b, dst) }
func (k *kernels) mul(a, b, dst operand.Op) { k.ps(k.VMULPS, k.VMULPD)(a, b, dst) }

// sub sets dst = a − b, div sets dst = a / b.
func (k *kernels) sub(a, b, dst operand.Op) { k.ps(k.VSUBPS, k.VSUBPD)(b, a, dst) }
func (k *kernels) div(a, b, dst operand.Op) { k.ps(k.VDIVPS, k.VDIVPD)(b, a, dst) }

// fma sets acc += a·b; a may be memory.
func (k *kernels) fma(a, b, acc operand.Op) { k.ps(k.VFMADD231PS, k.VFMADD231PD)(a, b, acc) }
func (k *kernels) load(mem, dst operand.Op) { k.ps(k.VMOVUPS, k.VMOVUPD)(mem, dst) }

func (k *kernels) zero(r reg.VecVirtual) { k.VXORPS(r, r, r) }

// broadcast fills dst with a scalar in memory.
func (k *kernels) broadcast(mem operand.Op, dst reg.Register) {
	k.ps(k.VBROADCASTSS, k.VBROADCASTSD)(mem, dst)
}

// mask is the set of the first n lanes of a vector: a mask register, or a vector of ones and zeros.
type mask struct {
	k reg.Register
	v reg.VecVirtual
}

// as returns the vector of a mask in the size of a register.
func (m mask) as(r reg.Register) reg.Register { return part(m.v, int(r.Size())) }

// firstLanes makes the mask of n lanes, 0 ≤ n ≤ lanes, for vectors of the given number of lanes. n is lost.
func (k *kernels) firstLanes(n reg.GPVirtual) mask {
	if k.isa == avx512 {
		bits, m := k.GP64(), k.K()
		k.MOVQ(operand.I64(-1), bits)
		k.BZHIQ(n, bits, bits)
		k.KMOVW(bits.As32(), m)
		return mask{k: m}
	}
	// A window of a table of ones followed by zeros.
	table, at, m := k.ones(), k.GP64(), k.YMM()
	k.LEAQ(table, at)
	k.SHLQ(operand.U8(map[bool]int{false: 2, true: 3}[k.f64]), n)
	k.SUBQ(n, at)
	k.VMOVDQU(operand.Mem{Base: at, Disp: 32}, m)
	return mask{v: m}
}

// ones is 32 bytes of ones and 32 bytes of zeros.
func (k *kernels) ones() operand.Mem {
	if m, ok := k.tables["ones"]; ok {
		return m
	}
	m := k.StaticGlobal("ones" + k.suffix())
	k.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		k.AddDatum(i*8, operand.U64(^uint64(0)))
	}
	for i := range 4 {
		k.AddDatum(32+i*8, operand.U64(0))
	}
	if k.tables == nil {
		k.tables = map[string]operand.Mem{}
	}
	k.tables["ones"] = m
	return m
}

// loadMasked loads the lanes of m and zero elsewhere; it does not touch memory elsewhere. No mask means
// all lanes.
func (k *kernels) loadMasked(mem operand.Op, m mask, dst reg.Register) {
	switch {
	case m == mask{}:
		k.load(mem, dst)
	case k.isa == avx512 && k.f64:
		k.VMOVUPD_Z(mem, m.k, dst)
	case k.isa == avx512:
		k.VMOVUPS_Z(mem, m.k, dst)
	case k.f64:
		k.VMASKMOVPD(mem, m.as(dst), dst)
	default:
		k.VMASKMOVPS(mem, m.as(dst), dst)
	}
}

// storeMasked stores the lanes of m, or all without a mask.
func (k *kernels) storeMasked(src reg.Register, m mask, mem operand.Op) {
	switch {
	case m == mask{}:
		k.load(src, mem)
	case k.isa == avx512:
		k.ps(k.VMOVUPS, k.VMOVUPD)(src, m.k, mem)
	case k.f64:
		k.VMASKMOVPD(src, m.as(src), mem)
	default:
		k.VMASKMOVPS(src, m.as(src), mem)
	}
}

// fmaMasked sets acc += mem·b in the lanes of m. What is behind them may be lost.
func (k *kernels) fmaMasked(mem operand.Op, b reg.Register, m mask, acc reg.Register) {
	if k.isa == avx512 {
		k.ps(k.VFMADD231PS, k.VFMADD231PD)(mem, b, m.k, acc)
		return
	}
	t := part(k.YMM(), int(acc.Size()))
	k.loadMasked(mem, m, t)
	k.fma(t, b, acc)
}

// pairs adds neighbouring lanes of a and b: each pair of lanes of the result is one of a and one of
// b (float64), or half of the way there (float32; see quads).
func (k *kernels) pairs(a, b reg.VecVirtual) reg.VecVirtual {
	lo, hi := k.reg(), k.reg()
	k.ps(k.VUNPCKLPS, k.VUNPCKLPD)(b, a, lo)
	k.ps(k.VUNPCKHPS, k.VUNPCKHPD)(b, a, hi)
	k.add(lo, hi, lo)
	return lo
}

// quads, for float32, makes of two results of pairs one whose groups of four lanes hold a sum each of
// the four vectors that went in.
func (k *kernels) quads(a, b reg.VecVirtual) reg.VecVirtual {
	lo, hi := k.reg(), k.reg()
	k.VUNPCKLPD(b, a, lo)
	k.VUNPCKHPD(b, a, hi)
	k.add(lo, hi, lo)
	return lo
}

// folds adds neighbouring 128-bit lanes: the lower half of the result comes from a, the upper from b.
func (k *kernels) folds(a, b reg.VecVirtual) reg.VecVirtual {
	even, odd := k.reg(), k.reg()
	if k.isa == avx512 {
		k.ps(k.VSHUFF32X4, k.VSHUFF64X2)(operand.U8(0x88), b, a, even)
		k.ps(k.VSHUFF32X4, k.VSHUFF64X2)(operand.U8(0xdd), b, a, odd)
	} else {
		k.VPERM2F128(operand.U8(0x20), b, a, even)
		k.VPERM2F128(operand.U8(0x31), b, a, odd)
	}
	k.add(even, odd, even)
	return even
}

// sums adds up the lanes of each of 4 or 8 vectors; the result holds one sum per vector, in order, in its
// first lanes, in one register or for eight float64 of AVX2 in two. The order in which lanes are added is
// the same for 4 and for 8, so that a dot product does not depend on its neighbours.
func (k *kernels) sums(acc []reg.VecVirtual) []reg.VecVirtual {
	var level []reg.VecVirtual
	for i := 0; i < len(acc); i += 2 {
		level = append(level, k.pairs(acc[i], acc[i+1]))
	}
	if !k.f64 {
		var next []reg.VecVirtual
		for i := 0; i < len(level); i += 2 {
			next = append(next, k.quads(level[i], level[i+1]))
		}
		level = next
	}
	// Now each 128-bit lane of each vector holds partial sums of its own rows; add the lanes.
	for lanes := k.width() / 16; lanes > 1; lanes /= 2 {
		if len(level) == 1 {
			level[0] = k.folds(level[0], level[0])
			continue
		}
		var next []reg.VecVirtual
		for i := 0; i < len(level); i += 2 {
			next = append(next, k.folds(level[i], level[i+1]))
		}
		level = next
	}
	return level
}
