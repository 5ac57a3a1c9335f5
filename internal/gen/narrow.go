package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Kernels for rows of at most maxNarrow elements, one for each number of elements. Lanes are non-zeros: a
// vector full at a time, then four at a time.
const rest = 4

// narrowAhead is the number of non-zeros between the prefetch of a narrow row of B and its use.
const narrowAhead = 64

// prefetchNarrow fetches rows of B that come narrowAhead non-zeros after j, if cols goes that far.
func (k *kernels) prefetchNarrow(name string, rows int, b, stride, cols, j reg.GPVirtual) {
	left := k.GP64()
	k.Load(k.Param("ahead"), left)
	k.SUBQ(j, left)
	k.CMPQ(left, operand.I32(narrowAhead+rows))
	k.JL(operand.LabelRef(name))
	for r := range rows {
		p := k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols, Index: j, Scale: 4, Disp: 4 * (narrowAhead + r)}, p)
		k.IMULQ(stride, p)
		k.PREFETCHT0(operand.Mem{Base: b, Index: p, Scale: 1})
	}
	k.Label(name)
}

// narrowRows returns the addresses of the rows of B of the non-zeros from j on. With a number of rows left
// the last one stands in for those behind it.
func (k *kernels) narrowRows(b, stride, cols, j, left reg.GPVirtual) func(r int) operand.Mem {
	from := k.GP64()
	k.LEAQ(operand.Mem{Base: cols, Index: j, Scale: 4}, from)
	var last reg.GPVirtual
	if left != nil {
		last = k.GP64()
		k.LEAQ(operand.Mem{Base: left, Disp: -1}, last)
	}
	return func(r int) operand.Mem {
		p := k.GP64()
		if left != nil && r > 0 {
			k.MOVQ(operand.I32(r), p)
			k.CMPQ(p, last)
			k.CMOVQGT(last, p)
			k.MOVLQSX(operand.Mem{Base: from, Index: p, Scale: 4}, p)
		} else {
			k.MOVLQSX(operand.Mem{Base: from, Disp: 4 * r}, p)
		}
		k.IMULQ(stride, p)
		return operand.Mem{Base: b, Index: p, Scale: 1}
	}
}

// firstOf makes the mask of the first min(left, rest) lanes.
func (k *kernels) firstOf(left reg.GPVirtual) mask {
	n := k.GP64()
	k.MOVQ(operand.I32(rest), n)
	k.CMPQ(left, n)
	k.CMOVQLT(left, n)
	return k.firstLanes(n)
}

// sddmmNarrow generates SDDMM for rows of depth elements.
func (k *kernels) sddmmNarrow(depth int) {
	name := fmt.Sprintf("sddmm%sK%d", k.suffix(), depth)
	k.Function(name)
	k.Doc(
		fmt.Sprintf("%s computes p[j] = alpha·f(s[j], ⟨a, B_cols[j]⟩) + beta·p[j] for j < n, for rows of %d elements; those of", name, depth),
		"B begin at b and are stride bytes apart. The bits of op are those of type Op.",
	)
	k.SignatureExpr(fmt.Sprintf("func(p, s, a, b *%[1]s, stride int, cols *int32, n, ahead, op int, alpha, beta %[1]s)", k.goType()))
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)

	a := k.GP64()
	k.Load(k.Param("a"), a)
	av := make([]reg.VecVirtual, depth)
	for i := range av {
		av[i] = k.reg()
		k.broadcast(operand.Mem{Base: a, Disp: i * k.elem()}, av[i])
	}
	b, stride, cols, j, left := k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("b"), b)
	k.Load(k.Param("stride"), stride)
	k.Load(k.Param("cols"), cols)
	k.Load(k.Param("n"), left)
	k.XORQ(j, j)

	// group does the non-zeros from j on, as many as fit in a vector of the given bytes.
	group := func(name string, bytes int, left reg.GPVirtual) {
		label := func(s string) string { return s + name }
		k.prefetchNarrow(label("fetched"), bytes/k.elem(), b, stride, cols, j)
		x := k.columns(depth, bytes, k.narrowRows(b, stride, cols, j, left))
		d := k.reg()
		k.mul(x[0], av[0], d)
		for i := 1; i < depth; i++ {
			k.fma(x[i], av[i], d)
		}
		m := mask{}
		if left != nil {
			m = k.firstOf(left)
		}
		at := func(param string) operand.Mem {
			base := k.GP64()
			k.Load(k.Param(param), base)
			return operand.Mem{Base: base, Index: j, Scale: uint8(k.elem())}
		}
		s, t := k.reg(), k.reg()
		k.testOp(opContinue)
		k.JZ(operand.LabelRef(label("begun")))
		k.loadMasked(at("p"), m, part(s, bytes))
		k.add(part(s, bytes), part(d, bytes), part(d, bytes))
		k.Label(label("begun"))
		k.finish(label, m, part(d, bytes), part(s, bytes), part(t, bytes), at)
	}

	k.Label("next")
	k.CMPQ(left, operand.I32(k.lanes()))
	k.JL(operand.LabelRef("rest"))
	group("whole", k.width(), nil)
	k.ADDQ(operand.I32(k.lanes()), j)
	k.SUBQ(operand.I32(k.lanes()), left)
	k.JMP(operand.LabelRef("next"))

	k.Label("rest")
	k.TESTQ(left, left)
	k.JLE(operand.LabelRef("done"))
	group("four", rest*k.elem(), left)
	k.ADDQ(operand.I32(rest), j)
	k.SUBQ(operand.I32(rest), left)
	k.JMP(operand.LabelRef("rest"))
	k.Label("done")
	k.VZEROUPPER()
	k.RET()
}

// spmmNarrow generates one row of C of depth elements. Each lane adds up every lanes-th non-zero, so that additions need
// not wait for each other; the lanes are added up at the end.
func (k *kernels) spmmNarrow(depth int) {
	name := fmt.Sprintf("spmm%sK%d", k.suffix(), depth)
	k.Function(name)
	k.Doc(
		fmt.Sprintf("%s adds alpha·Σ_j<n v[j]·B_cols[j] to c, or sets c to it when fresh is not 0, for rows of %d", name, depth),
		"elements. Rows of B are stride bytes apart. v advances by step bytes; if step is 0, v holds a vector of",
		"equal values.",
	)
	k.SignatureExpr(fmt.Sprintf("func(c, v *%[1]s, step int, b *%[1]s, stride int, cols *int32, n, ahead, fresh int, alpha %[1]s)", k.goType()))
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)

	acc := make([]reg.VecVirtual, depth)
	for i := range acc {
		acc[i] = k.reg()
		k.zero(acc[i])
	}
	v, step, b, stride, cols, j, left := k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("v"), v)
	k.Load(k.Param("step"), step)
	k.Load(k.Param("b"), b)
	k.Load(k.Param("stride"), stride)
	k.Load(k.Param("cols"), cols)
	k.Load(k.Param("n"), left)
	k.XORQ(j, j)

	k.Label("next")
	k.CMPQ(left, operand.I32(k.lanes()))
	k.JL(operand.LabelRef("rest"))
	k.prefetchNarrow("fetched", k.lanes(), b, stride, cols, j)
	x := k.columns(depth, k.width(), k.narrowRows(b, stride, cols, j, nil))
	value := k.reg()
	k.load(operand.Mem{Base: v}, value)
	for i := range acc {
		k.fma(x[i], value, acc[i])
	}
	k.LEAQ(operand.Mem{Base: v, Index: step, Scale: uint8(min(k.lanes(), 8))}, v)
	if k.lanes() > 8 {
		k.LEAQ(operand.Mem{Base: v, Index: step, Scale: uint8(k.lanes() - 8)}, v)
	}
	k.ADDQ(operand.I32(k.lanes()), j)
	k.SUBQ(operand.I32(k.lanes()), left)
	k.JMP(operand.LabelRef("next"))

	k.Label("rest")
	k.TESTQ(left, left)
	k.JLE(operand.LabelRef("sum"))
	bytes := rest * k.elem()
	k.prefetchNarrow("fetchedfour", rest, b, stride, cols, j)
	x = k.columns(depth, bytes, k.narrowRows(b, stride, cols, j, left))
	m := k.firstOf(left)
	value = k.reg()
	k.zero(value)
	k.loadMasked(operand.Mem{Base: v}, m, part(value, bytes))
	for i := range acc {
		// The rows that stand in may hold infinities, which zero times does not make zero.
		if k.isa == avx512 {
			k.ps(k.VFMADD231PS, k.VFMADD231PD)(x[i], value, m.k, acc[i])
			continue
		}
		k.VANDPS(part(m.v, bytes), part(x[i], bytes), part(x[i], bytes))
		k.fma(x[i], value, acc[i])
	}
	k.LEAQ(operand.Mem{Base: v, Index: step, Scale: rest}, v)
	k.ADDQ(operand.I32(rest), j)
	k.SUBQ(operand.I32(rest), left)
	k.JMP(operand.LabelRef("rest"))

	k.Label("sum")
	for len(acc) < 4 {
		acc = append(acc, acc[0])
	}
	sum := k.sums(acc)[0]
	c, fresh, alpha, out := k.GP64(), k.GP64(), k.reg(), k.reg()
	k.Load(k.Param("c"), c)
	k.broadcast(k.param("alpha"), alpha)
	n := k.GP64()
	k.MOVQ(operand.I32(depth), n)
	m = k.firstLanes(n)
	k.zero(out)
	k.Load(k.Param("fresh"), fresh)
	k.TESTQ(fresh, fresh)
	k.JNZ(operand.LabelRef("store"))
	k.loadMasked(operand.Mem{Base: c}, m, part(out, bytes))
	k.Label("store")
	k.fma(sum, alpha, out)
	k.storeMasked(part(out, bytes), m, operand.Mem{Base: c})
	k.VZEROUPPER()
	k.RET()
}
