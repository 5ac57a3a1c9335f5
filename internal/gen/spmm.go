package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// spmm generates one row of C for a block of at most chunks vectors of columns: the block stays in
// registers over the non-zeros, which are added strictly in order, so that cutting a row into
// several calls changes no bit.
func (k *kernels) spmm(chunks int) {
	t := k.goType()
	name := fmt.Sprintf("spmm%sx%d", k.suffix(), chunks)
	k.Function(name)
	k.Doc(
		fmt.Sprintf("%s adds Σ_j<n (alpha·v[j])·B_cols[j] to c, or sets c to it when fresh is not 0, for rows of %d", name, (chunks-1)*k.lanes()),
		fmt.Sprintf("to %d elements: all but the last vector are whole, the last has tail ≥ 1 elements. Rows of B are stride", chunks*k.lanes()),
		"bytes apart. v advances by step bytes. cols has at least ahead ≥ n elements, of which those behind n are",
		"prefetched.",
	)
	k.SignatureExpr(fmt.Sprintf("func(c, v *%[1]s, step int, b *%[1]s, stride int, cols *int32, n, ahead, tail, fresh int, alpha %[1]s)", t))
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	ref := func(s string) operand.Op { return operand.LabelRef(s) }

	tail := k.GP64()
	k.Load(k.Param("tail"), tail)
	m := k.firstLanes(tail)

	c := k.GP64()
	k.Load(k.Param("c"), c)
	acc := make([]reg.VecVirtual, chunks)
	for i := range acc {
		acc[i] = k.reg()
		k.zero(acc[i])
	}
	fresh := k.GP64()
	k.Load(k.Param("fresh"), fresh)
	k.TESTQ(fresh, fresh)
	k.JNZ(ref("begin"))
	for i := range chunks - 1 {
		k.load(operand.Mem{Base: c, Disp: i * k.width()}, acc[i])
	}
	k.loadMasked(operand.Mem{Base: c, Disp: (chunks - 1) * k.width()}, m, acc[chunks-1])
	k.Label("begin")

	v, step, b, stride, cols, n, ahead := k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("v"), v)
	k.Load(k.Param("step"), step)
	k.Load(k.Param("b"), b)
	k.Load(k.Param("stride"), stride)
	k.Load(k.Param("cols"), cols)
	k.Load(k.Param("n"), n)
	k.Load(k.Param("ahead"), ahead)
	alpha := k.reg()
	k.broadcast(k.param("alpha"), alpha)
	k.TESTQ(n, n)
	k.JLE(ref("store"))

	least := 16 // bytes of the last vector, see mostShort
	if chunks > mostShort {
		least = k.width()
	}
	for size := least; size < k.width(); size *= 2 {
		k.Load(k.Param("tail"), tail)
		k.CMPQ(tail, operand.I32(size/k.elem()))
		k.JLE(operand.LabelRef(fmt.Sprintf("next%d", size)))
	}
	for size := k.width(); size >= least; size /= 2 {
		next, unfetched := fmt.Sprintf("next%d", size), fmt.Sprintf("unfetched%d", size)
		distance := prefetchDistance(chunks * k.width())
		k.Label(next)
		k.CMPQ(ahead, operand.I32(distance+1))
		k.JL(ref(unfetched))
		later := k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols, Disp: 4 * distance}, later)
		k.IMULQ(stride, later)
		k.ADDQ(b, later)
		for i := 0; i < chunks*k.width(); i += 64 {
			k.PREFETCHT0(operand.Mem{Base: later, Disp: i})
		}
		k.Label(unfetched)
		k.PREFETCHT0(operand.Mem{Base: cols, Disp: nonZerosAhead * 4})
		if chunks*k.width() >= longRow {
			near := fmt.Sprintf("near%d", size)
			k.CMPQ(n, operand.I32(nonZerosAhead))
			k.JLE(ref(near))
			k.PREFETCHT0(operand.Mem{Base: v, Disp: nonZerosAhead * k.elem()})
			k.Label(near)
		}
		row := k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols}, row)
		k.IMULQ(stride, row)
		k.ADDQ(b, row)
		value := k.reg()
		k.broadcast(operand.Mem{Base: v}, value)
		k.mul(alpha, value, value)
		for i := range chunks - 1 {
			k.fma(operand.Mem{Base: row, Disp: i * k.width()}, value, acc[i])
		}
		k.fmaMasked(operand.Mem{Base: row, Disp: (chunks - 1) * k.width()}, part(value, size), m, part(acc[chunks-1], size))
		k.ADDQ(step, v)
		k.ADDQ(operand.I32(4), cols)
		k.DECQ(ahead)
		k.DECQ(n)
		k.JNZ(ref(next))
		if size > least {
			k.JMP(ref("store"))
		}
	}

	k.Label("store")
	for i := range chunks - 1 {
		k.load(acc[i], operand.Mem{Base: c, Disp: i * k.width()})
	}
	k.storeMasked(acc[chunks-1], m, operand.Mem{Base: c, Disp: (chunks - 1) * k.width()})
	k.VZEROUPPER()
	k.RET()
}

// prefetchDistance is the number of non-zeros between the prefetch of a row of B of the given
// bytes and its use: about 8 KB, which hides the latency of memory.
func prefetchDistance(bytes int) int { return max(8192/bytes, 4) }
