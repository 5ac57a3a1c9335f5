package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sliceBytes are those of a row after whose products the lanes of a dot product are added up. A dot
// product is the sum of its slices, in order, so cutting K at multiples of it changes no bit.
const sliceBytes = 512

// overhang is the number of products by which the last slice may be longer, so that a few products more cost no
// slice of their own.
const overhang = 16

// Bits of the argument op; package asm has the same names.
const (
	opEpilogue = 3  // dot, scale, residual, quotient
	opContinue = 4  // start from the partial sums in p
	opPartial  = 8  // leave partial sums in p, without the epilogue
	opBeta     = 16 // add beta·p
	opNear     = 32 // rows of B are near
	opCached   = 64 // rows of A are in one that threads share
)

// sddmm generates the dot products of rows of A with rows of B, eight or four of B at a time, with one
// accumulator per row of B. Lanes are added up for all rows at the same time.
func (k *kernels) sddmm() {
	t := k.goType()
	k.Function("sddmm" + k.suffix())
	k.Doc(
		"sddmm"+k.suffix()+" computes p[j] = alpha·f(s[j], ⟨A_i, B_cols[j]⟩) + beta·p[j] for the non-zeros j of rows rows i. Rows have",
		"depth ≥ 1 elements; those of A begin at a and are step bytes apart, those of B begin at b and are stride bytes apart. "+walkDoc[0],
		walkDoc[1],
		walkDoc[2]+" The bits of op are those of type Op.",
	)
	k.SignatureExpr(fmt.Sprintf("func(p, s, a *%[1]s, step int, b *%[1]s, stride int, cols *int32, n int, ptr, segs *int64, rows, ahead, depth, op int, alpha, beta %[1]s)", t))
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)

	j, bytes := k.GP64(), k.GP64()
	k.Load(k.Param("depth"), bytes)
	k.SHLQ(k.log(k.elem()), bytes)
	if k.isa == avx512 {
		k.setDistance(bytes)
	}
	spread := k.isa == avx512
	w := k.beginWalk(array{param: "p"}, array{param: "s"}, array{param: "a", step: "step", rows: true, nonEmpty: true, spread: spread})
	if spread {
		w.short = func() { k.CMPQ(bytes, operand.I32(spreadRow)) }
		w.testCached = func() { k.testOp(opCached) }
	}

	k.Label("row")
	k.XORQ(j, j)
	k.Label("next")
	left := k.GP64()
	k.Load(k.Param("n"), left)
	k.SUBQ(j, left)
	k.JLE(operand.LabelRef("end"))
	k.CMPQ(left, operand.I32(4))
	k.JLE(operand.LabelRef("four"))
	if k.isa == avx512 {
		// Groups that are full need not look at the end of a row, nor at the end of cols before they fetch.
		k.CMPQ(left, operand.I32(8))
		k.JL(operand.LabelRef("eight"))
		k.Load(k.Param("ahead"), left)
		k.SUBQ(j, left)
		k.SUBQ(k.distance, left)
		k.CMPQ(left, operand.I32(8))
		k.JL(operand.LabelRef("eight"))
		k.testOp(opNear)
		k.JNZ(operand.LabelRef("near"))
		k.dots(w, dotGroup{rows: 8, full: true}, j, bytes)
		k.JMP(operand.LabelRef("next"))
		k.Label("near")
		k.dots(w, dotGroup{rows: 8, full: true, near: true}, j, bytes)
		k.JMP(operand.LabelRef("next"))
	}
	k.Label("eight")
	k.dots(w, dotGroup{rows: 8}, j, bytes)
	k.JMP(operand.LabelRef("next"))
	k.Label("four")
	k.dots(w, dotGroup{rows: 4}, j, bytes)
	k.JMP(operand.LabelRef("next"))

	k.Label("end")
	if spread {
		next, last := k.GP64(), k.GP64()
		k.MOVQ(w.spread.from, next)
		k.MOVQ(w.spread.last, last)
		w.fetchRest(next, last)
		k.MOVQ(last, w.spread.from) // what comes next may have no non-zeros, and nothing to fetch
	}
	w.nextRow("row", bytes)
}

// dotGroup is a group of at most rows rows of B. A full one has as many, and cols has more than it fetches ahead.
type dotGroup struct {
	rows int
	full bool
	near bool // see fetchRow
	used int  // it has just so many, and cols more than they fetch ahead, if not 0

	beside func(r int) // generates what goes with row r, if not nil
}

// part reports whether a group may have fewer rows than it has room for, or cols none to fetch ahead.
func (g dotGroup) part() bool { return !g.full && g.used == 0 }

// inUse is the number of rows that a group multiplies.
func (g dotGroup) inUse() int {
	if g.used > 0 {
		return g.used
	}
	return g.rows
}

func (g dotGroup) label(s string) string {
	if g.full {
		s += "_full"
	}
	if g.near {
		s += "_near"
	}
	return fmt.Sprintf("%s%d", s, g.rows)
}

// dots generates one group of dot products, starting at j, and advances j.
func (k *kernels) dots(w *walk, g dotGroup, j, bytes reg.GPVirtual) {
	name, rows := g.label, g.rows
	ref := func(s string) operand.Op { return operand.LabelRef(name(s)) }

	if k.isa == avx2 {
		k.prefetchRows(name, rows, j)
	}

	k.fetchStreams(name, rows, j)

	// The running sums start at zero or at the partial sums of earlier slices of K.
	sums := make([]reg.VecVirtual, max(rows/k.lanes(), 1))
	for i := range sums {
		sums[i] = k.reg()
		k.zero(sums[i])
	}
	k.testOp(opContinue)
	k.JZ(ref("fresh"))
	k.eachOutput(sums, j, rows, func(i int, m mask, at func(param string) operand.Mem) {
		k.loadMasked(at("p"), m, k.narrow(sums[i], rows))
	})
	k.Label(name("fresh"))

	if k.isa == avx512 {
		k.slicesByRow(w, g, j, bytes, sums)
	} else {
		k.slicesByChunk(name, rows, j, bytes, sums)
	}
	k.epilogue(name, sums, rows, j)
	k.ADDQ(operand.I32(rows), j)
}

// slicesByChunk adds to sums the products of one group, a chunk of all rows at a time: a chunk of the row of
// A is loaded once and multiplied with the same chunk of each row of B, with one accumulator per row. It
// needs few registers.
func (k *kernels) slicesByChunk(name func(string) string, rows int, j, bytes reg.GPVirtual, sums []reg.VecVirtual) {
	ref := func(s string) operand.Op { return operand.LabelRef(name(s)) }
	ptr := k.rowPointers(name, rows, j)
	a, off := k.GP64(), k.GP64()
	k.Load(k.Param("a"), a)
	k.XORQ(off, off)

	k.Label(name("slice"))
	acc := make([]reg.VecVirtual, rows)
	for r := range acc {
		acc[r] = k.reg()
		k.zero(acc[r])
	}
	end, whole, most := k.GP64(), k.GP64(), k.GP64()
	k.LEAQ(operand.Mem{Base: off, Disp: sliceBytes}, end)
	k.LEAQ(operand.Mem{Base: end, Disp: overhang * k.elem()}, most)
	k.MOVQ(bytes, whole)
	k.ANDQ(operand.I32(-k.width()), whole)
	k.CMPQ(bytes, most)
	k.CMOVQLE(whole, end)
	k.CMPQ(off, end)
	k.JGE(ref("tail"))

	k.Label(name("chunk"))
	av := k.reg()
	k.load(operand.Mem{Base: a, Index: off, Scale: 1}, av)
	for r := range acc {
		k.fma(operand.Mem{Base: ptr[r], Index: off, Scale: 1}, av, acc[r])
	}
	k.ADDQ(operand.I32(k.width()), off)
	k.CMPQ(off, end)
	k.JL(ref("chunk"))

	k.Label(name("tail"))
	rest := k.GP64()
	k.MOVQ(bytes, rest)
	k.SUBQ(off, rest)
	k.JLE(ref("reduce"))
	// Only the last slice has a tail.
	k.CMPQ(rest, operand.I32(overhang*k.elem()))
	k.JG(ref("reduce"))
	k.SHRQ(k.log(k.elem()), rest)
	m := k.firstLanes(rest)
	at := k.reg()
	k.loadMasked(operand.Mem{Base: a, Index: off, Scale: 1}, m, at)
	for r := range acc {
		k.fmaMasked(operand.Mem{Base: ptr[r], Index: off, Scale: 1}, at, m, acc[r])
	}
	k.ADDQ(operand.I32(k.width()), off)

	k.Label(name("reduce"))
	for i, s := range k.sums(acc) {
		k.add(s, sums[i], sums[i])
	}
	k.CMPQ(off, bytes)
	k.JL(ref("slice"))
}

// rowPointers returns the addresses of the rows of B of a group. Where fewer than rows are left, the
// last one stands in for the missing.
func (k *kernels) rowPointers(name func(string) string, rows int, j reg.GPVirtual) []reg.GPVirtual {
	ref := func(s string) operand.Op { return operand.LabelRef(name(s)) }
	ptr := make([]reg.GPVirtual, rows)
	for r := range ptr {
		ptr[r] = k.GP64()
	}
	cols, last := k.GP64(), k.GP64()
	k.Load(k.Param("cols"), cols)
	k.LEAQ(operand.Mem{Base: cols, Index: j, Scale: 4}, cols)
	k.Load(k.Param("n"), last)
	k.SUBQ(j, last)
	k.DECQ(last)
	k.CMPQ(last, operand.I32(rows-1))
	k.JL(ref("few"))
	for r := range ptr {
		k.MOVLQSX(operand.Mem{Base: cols, Disp: 4 * r}, ptr[r])
	}
	k.JMP(ref("scaled"))
	k.Label(name("few"))
	// A group of eight has at least five rows, one of four at least one.
	for r := range ptr {
		if r <= rows-4 {
			k.MOVLQSX(operand.Mem{Base: cols, Disp: 4 * r}, ptr[r])
			continue
		}
		k.MOVQ(operand.I32(r), ptr[r])
		k.CMPQ(ptr[r], last)
		k.CMOVQGT(last, ptr[r])
		k.MOVLQSX(operand.Mem{Base: cols, Index: ptr[r], Scale: 4}, ptr[r])
	}
	k.Label(name("scaled"))
	stride, b := k.GP64(), k.GP64()
	k.Load(k.Param("stride"), stride)
	k.Load(k.Param("b"), b)
	for r := range ptr {
		k.IMULQ(stride, ptr[r])
		k.ADDQ(b, ptr[r])
	}
	return ptr
}

// prefetchRows fetches the first lines of the rows of B that come rows entries later, also those of the next row of A.
func (k *kernels) prefetchRows(name func(string) string, rows int, j reg.GPVirtual) {
	ref := func(s string) operand.Op { return operand.LabelRef(name(s)) }
	left, cols := k.GP64(), k.GP64()
	k.Load(k.Param("ahead"), left)
	k.SUBQ(j, left)
	k.CMPQ(left, operand.I32(2*rows))
	k.JL(ref("unfetched"))
	k.Load(k.Param("cols"), cols)
	k.LEAQ(operand.Mem{Base: cols, Index: j, Scale: 4}, cols)
	stride, b := k.GP64(), k.GP64()
	k.Load(k.Param("stride"), stride)
	k.Load(k.Param("b"), b)
	ptr := make([]reg.GPVirtual, rows)
	for r := range ptr {
		ptr[r] = k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols, Disp: 4 * (rows + r)}, ptr[r])
		k.IMULQ(stride, ptr[r])
		k.ADDQ(b, ptr[r])
	}
	for r := range ptr {
		k.PREFETCHT0(operand.Mem{Base: ptr[r]})
	}
	k.Label(name("unfetched"))
}

// testOp sets the zero flag unless a bit of op is set.
func (k *kernels) testOp(bit int) {
	op := k.GP64()
	k.Load(k.Param("op"), op)
	k.TESTQ(operand.I32(bit), op)
}

// eachOutput calls do for each register of sums with the mask of the lanes that are in use and the
// place of its values in p or s.
func (k *kernels) eachOutput(sums []reg.VecVirtual, j reg.GPVirtual, rows int, do func(i int, m mask, at func(param string) operand.Mem)) {
	for i := range sums {
		n, most := k.GP64(), k.GP64()
		k.Load(k.Param("n"), n)
		k.SUBQ(j, n)
		if i > 0 {
			none := k.GP64()
			k.XORQ(none, none)
			k.SUBQ(operand.I32(i*k.lanes()), n)
			k.CMOVQLT(none, n)
		}
		k.MOVQ(operand.I32(min(rows, k.lanes())), most)
		k.CMPQ(n, most)
		k.CMOVQGT(most, n)
		do(i, k.firstLanes(n), func(param string) operand.Mem {
			base := k.GP64()
			k.Load(k.Param(param), base)
			return operand.Mem{Base: base, Index: j, Scale: uint8(k.elem()), Disp: i * k.width()}
		})
	}
}

// epilogue stores alpha·f(s, sums) + beta·p, or the sums as they are.
func (k *kernels) epilogue(name func(string) string, sums []reg.VecVirtual, rows int, j reg.GPVirtual) {
	k.eachOutput(sums, j, rows, func(i int, m mask, at func(string) operand.Mem) {
		label := func(s string) string { return name(fmt.Sprintf("%s%d_", s, i)) }
		k.finish(label, m, k.narrow(sums[i], rows), k.narrow(k.reg(), rows), k.narrow(k.reg(), rows), at)
	})
}

// finish stores alpha·f(s, d) + beta·p, or d as it is, in the lanes of m. d, s and t are lost.
func (k *kernels) finish(label func(string) string, m mask, d, s, t reg.Register, at func(param string) operand.Mem) {
	ref := func(s string) operand.Op { return operand.LabelRef(label(s)) }
	k.testOp(opPartial)
	k.JNZ(ref("store"))
	k.testOp(opEpilogue)
	k.JZ(ref("alpha"))
	k.loadMasked(at("s"), m, s)
	f := k.GP64()
	k.Load(k.Param("op"), f)
	k.ANDQ(operand.I32(opEpilogue), f)
	k.CMPQ(f, operand.I32(2))
	k.JEQ(ref("residual"))
	k.JGT(ref("quotient"))
	k.mul(s, d, d)
	k.JMP(ref("alpha"))
	k.Label(label("residual"))
	k.sub(s, d, d)
	k.JMP(ref("alpha"))
	k.Label(label("quotient"))
	k.div(s, d, d)
	k.Label(label("alpha"))
	k.broadcast(k.param("alpha"), t)
	k.mul(t, d, d)
	k.testOp(opBeta)
	k.JZ(ref("store"))
	k.broadcast(k.param("beta"), t)
	k.loadMasked(at("p"), m, s)
	k.fma(s, t, d)
	k.Label(label("store"))
	k.storeMasked(d, m, at("p"))
}

// param returns a parameter as a memory operand.
func (k *kernels) param(name string) operand.Mem { return place(k.Param(name)) }

// returned is where a result is stored.
func (k *kernels) returned(name string) operand.Mem { return place(k.Return(name)) }

// place is where a parameter or result lies.
func place(of gotypes.Component) operand.Mem {
	c, err := of.Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}
