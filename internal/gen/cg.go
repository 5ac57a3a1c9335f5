package main

import (
	"math"
	"math/bits"

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

// groupRows is the number of rows of which cgStep does one stage after the other. A row is a chain of two sums and two quotients, each of which waits
// for the one before; those of different rows do not.
const groupRows = 4

// cgStep generates a step of conjugate gradients for many rows.
func (k *kernels) cgStep() {
	k.Function("cgStep" + k.suffix())
	k.Doc(
		"cgStep"+k.suffix()+" goes through rows of n elements, row i of x at x + i·xStep bytes, and leaves out those whose rz[i] is negative. With q +",
		"shift[i]·p in the place of q it makes pq = ⟨p, q⟩. Where pq is positive and finite it goes on: with alpha = rz[i]/pq it sets x += alpha·p,",
		"r −= alpha·q, sum = ⟨r, d∘r⟩, and where that is finite and above stop[i], with beta = sum/rz[i], p = d∘r + beta·p and rz[i] = sum. Where it",
		"is not, and where pq is not, it sets p = 0 and rz[i] = −1. It returns the number of the others.",
	)
	k.SignatureExpr("func(x, r, p, q, d *" + k.goType() + ", xStep, rStep, pStep, qStep, dStep, n int, shift *" + k.goType() + ", rz, stop *float64, rows int) (active int)")
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	active := k.returned("active")
	k.MOVQ(operand.I32(0), active)
	sums := k.AllocLocal(8 * groupRows)

	k.Label("group")
	k.stage("curve", []string{"p", "q"}, func(s *cgStage) {
		curvature := k.doubleSum()
		shift := s.shift()
		k.vectorLoop("curves", s.n, func(at reg.GPVirtual, m mask) {
			p, q := k.get(s.in["p"], at, m), k.get(s.in["q"], at, m)
			k.fma(p, shift, q)
			k.addProduct(curvature, k.doubles(p), k.doubles(q))
		})
		k.VMOVSD(k.total(curvature), sums.Idx(s.row, 8))
	})
	k.stage("advance", []string{"x", "r", "p", "q", "d"}, func(s *cgStage) {
		zero, pq := k.XMM(), k.XMM()
		k.VXORPD(zero, zero, zero)
		k.VMOVSD(sums.Idx(s.row, 8), pq)
		k.VUCOMISD(zero, pq)
		k.JLS(s.done()) // or NaN
		k.VUCOMISD(pq, k.constant(math.Inf(1)))
		k.JLS(s.done())
		quotient := k.XMM()
		k.VDIVSD(pq, s.rz, quotient)
		alpha := k.spread(quotient)
		shift := s.shift()
		next := k.doubleSum()
		k.vectorLoop("advances", s.n, func(at reg.GPVirtual, m mask) {
			p, q := k.get(s.in["p"], at, m), k.get(s.in["q"], at, m)
			k.fma(p, shift, q)
			x, r := k.get(s.in["x"], at, m), k.get(s.in["r"], at, m)
			k.fma(p, alpha, x)
			k.put(x, s.in["x"], at, m)
			k.fnma(q, alpha, r)
			k.put(r, s.in["r"], at, m)
			z := k.get(s.in["d"], at, m)
			k.mul(r, z, z)
			k.addProduct(next, k.doubles(r), k.doubles(z))
		})
		k.VMOVSD(k.total(next), sums.Idx(s.row, 8))
	})
	k.stage("direct", []string{"r", "p", "d"}, func(s *cgStage) {
		sum := k.XMM()
		k.VMOVSD(sums.Idx(s.row, 8), sum)
		k.VUCOMISD(s.of("stop", 8), sum)
		k.JLS(s.done())
		k.VUCOMISD(sum, k.constant(math.Inf(1)))
		k.JLS(s.done())
		k.VMOVSD(sum, s.of("rz", 8))
		quotient := k.XMM()
		k.VDIVSD(s.rz, sum, quotient)
		beta := k.spread(quotient)
		k.vectorLoop("directs", s.n, func(at reg.GPVirtual, m mask) {
			z := k.get(s.in["d"], at, m)
			k.mul(k.get(s.in["r"], at, m), z, z)
			k.fma(k.get(s.in["p"], at, m), beta, z)
			k.put(z, s.in["p"], at, m)
		})
		k.INCQ(active)
	})

	rows, by := k.GP64(), k.GP64()
	k.Load(k.Param("rows"), rows)
	k.SUBQ(operand.I32(groupRows), rows)
	k.JLE(operand.LabelRef("return"))
	k.Store(rows, k.Param("rows"))
	for _, name := range []string{"x", "r", "p", "q", "d"} {
		k.Load(k.Param(name+"Step"), by)
		k.SHLQ(operand.U8(bits.Len(groupRows-1)), by)
		k.ADDQ(by, k.param(name))
	}
	k.ADDQ(operand.I32(groupRows*k.elem()), k.param("shift"))
	k.ADDQ(operand.I32(groupRows*8), k.param("rz"))
	k.ADDQ(operand.I32(groupRows*8), k.param("stop"))
	k.JMP(operand.LabelRef("group"))
	k.Label("return")
	k.VZEROUPPER()
	k.RET()
}

// cgStage is a part of a step, for a row of a group.
type cgStage struct {
	*kernels
	name   string
	in     map[string]reg.GPVirtual // where the row begins
	n, row reg.GPVirtual
	rz     reg.VecVirtual
}

// stage generates one stage for the rows of a group that are not done.
func (k *kernels) stage(name string, operands []string, do func(*cgStage)) {
	s := &cgStage{kernels: k, name: name, in: k.arrays(operands...), n: k.GP64(), row: k.GP64(), rz: k.XMM()}
	k.Load(k.Param("n"), s.n)
	k.XORQ(s.row, s.row)
	k.Label(name + "_row")
	zero := k.XMM()
	k.VMOVSD(s.of("rz", 8), s.rz)
	k.VXORPD(zero, zero, zero)
	k.VUCOMISD(zero, s.rz)
	k.JCS(operand.LabelRef(name + "_next")) // below, or NaN
	do(s)

	k.Label(name + "_next")
	for _, array := range operands {
		k.ADDQ(k.param(array+"Step"), s.in[array])
	}
	k.INCQ(s.row)
	k.CMPQ(s.row, operand.I32(groupRows))
	k.JGE(operand.LabelRef(name + "_end"))
	k.CMPQ(s.row, k.param("rows"))
	k.JLT(operand.LabelRef(name + "_row"))
	k.JMP(operand.LabelRef(name + "_end"))

	if name != "curve" {
		k.Label(name + "_done")
		k.VMOVSD(k.constant(-1), s.of("rz", 8))
		none := k.reg()
		k.zero(none)
		k.vectorLoop(name+"_clear", s.n, func(at reg.GPVirtual, m mask) { k.put(none, s.in["p"], at, m) })
		k.JMP(operand.LabelRef(name + "_next"))
	}
	k.Label(name + "_end")
}

// done is where a row ends for which there is no next step.
func (s *cgStage) done() operand.Op { return operand.LabelRef(s.name + "_done") }

// of is the row's element of an array that is a parameter.
func (s *cgStage) of(name string, size uint8) operand.Mem {
	base := s.GP64()
	s.Load(s.Param(name), base)
	return operand.Mem{Base: base, Index: s.row, Scale: size}
}

// shift returns that of the row in all lanes.
func (s *cgStage) shift() reg.VecVirtual {
	v := s.reg()
	s.broadcast(s.of("shift", uint8(s.elem())), v)
	return v
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
