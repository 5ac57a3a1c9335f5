package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxNarrow is the greatest number of elements of a row that columns loads.
const maxNarrow = 4

// columns loads narrow rows of B, one for each lane of a vector of the given number of bytes, and
// transposes them: the i-th result holds element i of each row. Nothing is read beyond a row's depth elements. Loads
// that insert into a vector take half the time of gathers.
func (k *kernels) columns(depth, bytes int, row func(r int) operand.Mem) []reg.VecVirtual {
	// Rows are read in parts of one, two or (float32) four elements. A 128-bit lane holds as many parts of
	// neighbouring rows as fit; a part of n elements fills n vectors, and transposing makes n columns of them.
	var parts []int
	for left := depth; left > 0; {
		n := 1
		for n*2 <= left && n*2*k.elem() <= 16 {
			n *= 2
		}
		parts = append(parts, n)
		left -= n
	}
	vectors := make([][]reg.VecVirtual, len(parts))
	for p, n := range parts {
		for range n {
			v := k.reg()
			k.zero(v)
			vectors[p] = append(vectors[p], v)
		}
	}
	perLane := 16 / k.elem()
	for lane := range bytes / 16 {
		rows := make([]operand.Mem, perLane)
		for r := range rows {
			rows[r] = row(lane*perLane + r)
		}
		for p, n := range parts {
			for i, v := range vectors[p] {
				k.parts(n, rows[i*perLane/n:(i+1)*perLane/n], lane, v)
			}
			for r := range rows {
				rows[r].Disp += n * k.elem()
			}
		}
	}
	var out []reg.VecVirtual
	for _, v := range vectors {
		out = append(out, k.transpose(v)...)
	}
	return out
}

// parts loads parts of n elements from as many rows as fill a 128-bit lane of v.
func (k *kernels) parts(n int, rows []operand.Mem, lane int, v reg.VecVirtual) {
	insert := func(from operand.Op) {
		if k.isa == avx512 {
			k.VINSERTF32X4(operand.U8(lane), from, v, v)
		} else {
			k.VINSERTF128(operand.U8(lane), from, v, v)
		}
	}
	x := v.AsX()
	if lane > 0 {
		x = k.XMM()
	}
	switch n * k.elem() {
	case 4:
		k.VMOVSS(rows[0], x)
		for r := 1; r < 4; r++ {
			k.VINSERTPS(operand.U8(r<<4), rows[r], x, x)
		}
	case 8:
		k.VMOVSD(rows[0], x)
		k.VMOVHPD(rows[1], x, x)
	case 16:
		if lane > 0 {
			insert(rows[0])
			return
		}
		k.VMOVUPS(rows[0], x)
	}
	if lane > 0 {
		insert(x)
	}
}

// transpose makes columns of n vectors whose 128-bit lanes hold parts of n elements, in order of rows over
// the same lane of all vectors.
func (k *kernels) transpose(v []reg.VecVirtual) []reg.VecVirtual {
	two := func(f func(...operand.Op), a, b reg.VecVirtual, args ...operand.Op) reg.VecVirtual {
		r := k.reg()
		f(append(args, b, a, r)...)
		return r
	}
	shuffle := func(ops ...operand.Op) { k.VSHUFPS(ops[0], ops[1], ops[2], ops[3]) }
	switch {
	case len(v) == 1:
		return v
	case k.f64:
		return []reg.VecVirtual{two(k.VUNPCKLPD, v[0], v[1]), two(k.VUNPCKHPD, v[0], v[1])}
	case len(v) == 2:
		return []reg.VecVirtual{two(shuffle, v[0], v[1], operand.U8(0x88)), two(shuffle, v[0], v[1], operand.U8(0xdd))}
	}
	lo01, hi01 := two(k.VUNPCKLPS, v[0], v[1]), two(k.VUNPCKHPS, v[0], v[1])
	lo23, hi23 := two(k.VUNPCKLPS, v[2], v[3]), two(k.VUNPCKHPS, v[2], v[3])
	return []reg.VecVirtual{
		two(k.VUNPCKLPD, lo01, lo23), two(k.VUNPCKHPD, lo01, lo23),
		two(k.VUNPCKLPD, hi01, hi23), two(k.VUNPCKHPD, hi01, hi23),
	}
}
