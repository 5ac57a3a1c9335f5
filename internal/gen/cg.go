package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectorLoop calls body for the vectors of n elements: at is the byte where one begins, and one that is not whole has a mask.
func (k *kernels) vectorLoop(label string, n reg.GPVirtual, body func(at reg.GPVirtual, m mask)) {
	at, left := k.GP64(), k.GP64()
	k.XORQ(at, at)
	k.MOVQ(n, left)
	k.JMP(operand.LabelRef(label + "_begin"))
	k.Label(label)
	body(at, mask{})
	k.ADDQ(operand.I32(k.width()), at)
	k.SUBQ(operand.I32(k.lanes()), left)
	k.Label(label + "_begin")
	k.CMPQ(left, operand.I32(k.lanes()))
	k.JGE(operand.LabelRef(label))
	k.TESTQ(left, left)
	k.JZ(operand.LabelRef(label + "_end"))
	body(at, k.firstLanes(left))
	k.Label(label + "_end")
}

// arrays loads parameters that are addresses.
func (k *kernels) arrays(names ...string) map[string]reg.GPVirtual {
	r := map[string]reg.GPVirtual{}
	for _, name := range names {
		r[name] = k.GP64()
		k.Load(k.Param(name), r[name])
	}
	return r
}

// get loads a vector of an array, put stores one.
func (k *kernels) get(array, at reg.GPVirtual, m mask) reg.VecVirtual {
	v := k.reg()
	k.loadMasked(operand.Mem{Base: array, Index: at, Scale: 1}, m, v)
	return v
}

func (k *kernels) put(v reg.VecVirtual, array, at reg.GPVirtual, m mask) {
	k.storeMasked(v, m, operand.Mem{Base: array, Index: at, Scale: 1})
}

// fnma sets acc −= a·b.
func (k *kernels) fnma(a, b, acc operand.Op) { k.ps(k.VFNMADD231PS, k.VFNMADD231PD)(a, b, acc) }

// doubles returns the elements of a vector as vectors of float64, the lower half first.
func (k *kernels) doubles(v reg.VecVirtual) []reg.VecVirtual {
	if k.f64 {
		return []reg.VecVirtual{v}
	}
	lo, hi := k.reg(), k.reg()
	if k.isa == avx512 {
		k.VCVTPS2PD(v.AsY(), lo)
		k.VEXTRACTF32X8(operand.U8(1), v, hi.AsY())
		k.VCVTPS2PD(hi.AsY(), hi)
	} else {
		k.VCVTPS2PD(v.AsX(), lo)
		k.VEXTRACTF128(operand.U8(1), v, hi.AsX())
		k.VCVTPS2PD(hi.AsX(), hi)
	}
	return []reg.VecVirtual{lo, hi}
}

// doubleSum is a sum in float64, one vector for each of doubles.
type doubleSum []reg.VecVirtual

func (k *kernels) doubleSum() doubleSum {
	s := make(doubleSum, 1, 2)
	if !k.f64 {
		s = s[:2]
	}
	for i := range s {
		s[i] = k.reg()
		k.zero(s[i])
	}
	return s
}

// addProduct adds the products of the lanes of a and b.
func (k *kernels) addProduct(s doubleSum, a, b []reg.VecVirtual) {
	for i := range s {
		k.VFMADD231PD(a[i], b[i], s[i])
	}
}

// total adds up the lanes; the sum is in the lowest one.
func (k *kernels) total(s doubleSum) reg.Register {
	t := s[0]
	for _, v := range s[1:] {
		k.VADDPD(v, t, t)
	}
	other := k.reg()
	if k.isa == avx512 {
		k.VEXTRACTF64X4(operand.U8(1), t, other.AsY())
		k.VADDPD(other.AsY(), t.AsY(), t.AsY())
	}
	k.VEXTRACTF128(operand.U8(1), t.AsY(), other.AsX())
	k.VADDPD(other.AsX(), t.AsX(), t.AsX())
	k.VUNPCKHPD(t.AsX(), t.AsX(), other.AsX())
	k.VADDSD(other.AsX(), t.AsX(), t.AsX())
	return t.AsX()
}

// spread fills a vector with a float64, rounded to the element type.
func (k *kernels) spread(scalar reg.Register) reg.VecVirtual {
	v := k.reg()
	if k.f64 {
		k.VBROADCASTSD(scalar, v)
		return v
	}
	k.VCVTSD2SS(scalar, scalar, v.AsX())
	k.VBROADCASTSS(v.AsX(), v)
	return v
}

// constant returns a float64.
func (k *kernels) constant(x float64) reg.VecVirtual {
	bits, v := k.GP64(), k.XMM()
	k.MOVQ(operand.U64(math.Float64bits(x)), bits)
	k.VMOVQ(bits, v)
	return v
}

// result stores what a function returns.
func (k *kernels) result(scalar reg.Register, name string) { k.VMOVSD(scalar, k.returned(name)) }

// cgStep generates a step of conjugate gradients for many rows.
func (k *kernels) cgStep() {
	k.Function("cgStep" + k.suffix())
	k.Doc(
		"cgStep"+k.suffix()+" goes through rows of n elements, row i of x at x + i·xStep bytes, and leaves out those whose rz[i] is negative. It sets q +=",
		"shift[i]·p and pq = ⟨p, q⟩. Where pq is positive and finite it goes on: with alpha = rz[i]/pq it sets x += alpha·p, r −= alpha·q,",
		"sum = ⟨r, d∘r⟩, and where that is finite and above stop[i], with beta = sum/rz[i], p = d∘r + beta·p and rz[i] = sum. Where it is not, and",
		"where pq is not, it sets p = 0 and rz[i] = −1. It returns the number of the others.",
	)
	k.SignatureExpr("func(x, r, p, q, d *" + k.goType() + ", xStep, rStep, pStep, qStep, dStep, n int, shift *" + k.goType() + ", rz, stop *float64, rows int) (active int)")
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	operands := []string{"x", "r", "p", "q", "d"}
	in := k.arrays(operands...)
	n, i := k.GP64(), k.GP64()
	k.Load(k.Param("n"), n)
	k.XORQ(i, i)
	active := k.returned("active")
	k.MOVQ(operand.I32(0), active)
	// of is an element i of an array that is a parameter.
	of := func(name string, size uint8) operand.Mem {
		base := k.GP64()
		k.Load(k.Param(name), base)
		return operand.Mem{Base: base, Index: i, Scale: size}
	}

	k.Label("row")
	rz, zero := k.XMM(), k.XMM()
	k.VMOVSD(of("rz", 8), rz)
	k.VXORPD(zero, zero, zero)
	k.VUCOMISD(zero, rz)
	k.JCS(operand.LabelRef("next")) // below, or NaN
	shift := k.reg()
	k.broadcast(of("shift", uint8(k.elem())), shift)
	curvature := k.doubleSum()
	k.vectorLoop("curve", n, func(at reg.GPVirtual, m mask) {
		p, q := k.get(in["p"], at, m), k.get(in["q"], at, m)
		k.fma(p, shift, q)
		k.put(q, in["q"], at, m)
		k.addProduct(curvature, k.doubles(p), k.doubles(q))
	})
	pq := k.total(curvature)
	k.VUCOMISD(zero, pq)
	k.JLS(operand.LabelRef("done")) // or NaN
	inf := k.constant(math.Inf(1))
	k.VUCOMISD(pq, inf)
	k.JLS(operand.LabelRef("done"))

	quotient := k.XMM()
	k.VDIVSD(pq, rz, quotient)
	alpha := k.spread(quotient)
	sums := k.doubleSum()
	k.vectorLoop("advance", n, func(at reg.GPVirtual, m mask) {
		x, r := k.get(in["x"], at, m), k.get(in["r"], at, m)
		k.fma(k.get(in["p"], at, m), alpha, x)
		k.put(x, in["x"], at, m)
		k.fnma(k.get(in["q"], at, m), alpha, r)
		k.put(r, in["r"], at, m)
		z := k.get(in["d"], at, m)
		k.mul(r, z, z)
		k.addProduct(sums, k.doubles(r), k.doubles(z))
	})
	sum := k.total(sums)
	k.VUCOMISD(of("stop", 8), sum)
	k.JLS(operand.LabelRef("done"))
	k.VUCOMISD(sum, inf)
	k.JLS(operand.LabelRef("done"))
	k.VMOVSD(sum, of("rz", 8))
	k.VDIVSD(rz, sum, quotient)
	beta := k.spread(quotient)
	k.vectorLoop("direct", n, func(at reg.GPVirtual, m mask) {
		z := k.get(in["d"], at, m)
		k.mul(k.get(in["r"], at, m), z, z)
		k.fma(k.get(in["p"], at, m), beta, z)
		k.put(z, in["p"], at, m)
	})
	k.INCQ(active)

	k.Label("next")
	for _, name := range operands {
		k.ADDQ(k.param(name+"Step"), in[name])
	}
	k.INCQ(i)
	k.CMPQ(i, k.param("rows"))
	k.JLT(operand.LabelRef("row"))
	k.VZEROUPPER()
	k.RET()

	k.Label("done")
	k.VMOVSD(k.constant(-1), of("rz", 8))
	none := k.reg()
	k.zero(none)
	k.vectorLoop("clear", n, func(at reg.GPVirtual, m mask) { k.put(none, in["p"], at, m) })
	k.JMP(operand.LabelRef("next"))
}

// inverse returns 1/h in the lanes of m where h > 0, and sets h to zero in the others, as the result is.
func (k *kernels) inverse(one, zero, h reg.VecVirtual, m mask) reg.VecVirtual {
	const less = 0x11 // and false for NaN, without an exception
	d := k.reg()
	if k.isa == avx512 {
		positive := k.K()
		compare := k.ps(k.VCMPPS, k.VCMPPD)
		if m.k == nil {
			compare(operand.U8(less), h, zero, positive)
		} else {
			compare(operand.U8(less), h, zero, m.k, positive)
		}
		k.loadMasked(h, mask{k: positive}, h)
		k.div(one, h, d)
		k.loadMasked(d, mask{k: positive}, d)
		return d
	}
	positive := k.YMM()
	k.ps(k.VCMPPS, k.VCMPPD)(operand.U8(less), h, zero, positive)
	if m.v != nil {
		k.VANDPS(m.v, positive, positive)
	}
	k.VANDPS(positive, h, h)
	k.div(one, h, d)
	k.VANDPS(positive, d, d)
	return d
}

// cgStart generates the beginning of conjugate gradients for one row.
func (k *kernels) cgStart() {
	k.Function("cgStart" + k.suffix())
	k.Doc(
		"cgStart"+k.suffix()+" sets r −= shift·x, d = 1/(d + shift), or 0 where that is not positive, and p = d∘r. It returns ⟨r, p⟩, and scale =",
		"⟨x, x/d⟩ over those that are positive. Rows have n elements.",
	)
	k.SignatureExpr("func(x, r, p, d *" + k.goType() + ", n int, shift " + k.goType() + ") (sum, scale float64)")
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	in := k.arrays("x", "r", "p", "d")
	n := k.GP64()
	k.Load(k.Param("n"), n)
	shift := k.reg()
	k.broadcast(k.param("shift"), shift)
	one, zero := k.spread(k.constant(1)), k.reg()
	k.zero(zero)
	sums, scales := k.doubleSum(), k.doubleSum()
	k.vectorLoop("start", n, func(at reg.GPVirtual, m mask) {
		x, r, h := k.get(in["x"], at, m), k.get(in["r"], at, m), k.get(in["d"], at, m)
		k.fnma(x, shift, r)
		k.put(r, in["r"], at, m)
		k.add(shift, h, h)
		d := k.inverse(one, zero, h, m)
		k.put(d, in["d"], at, m)
		p := d
		k.mul(r, d, p)
		k.put(p, in["p"], at, m)
		k.addProduct(sums, k.doubles(r), k.doubles(p))
		xs, hs := k.doubles(x), k.doubles(h)
		for i := range xs {
			k.VMULPD(xs[i], xs[i], xs[i])
		}
		k.addProduct(scales, xs, hs)
	})
	k.result(k.total(sums), "sum")
	k.result(k.total(scales), "scale")
	k.VZEROUPPER()
	k.RET()
}
