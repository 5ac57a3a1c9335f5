package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// prefetch generates a function that fetches the lines of an array.
func prefetch(ctx *build.Context) {
	ctx.Function("prefetch")
	ctx.Attributes(attr.NOSPLIT)
	ctx.Pragma("noescape")
	ctx.Doc("prefetch fetches the cache lines of n bytes.")
	ctx.SignatureExpr("func(p *byte, n int)")
	p, last := ctx.GP64(), ctx.GP64()
	ctx.Load(ctx.Param("p"), p)
	ctx.Load(ctx.Param("n"), last)
	ctx.TESTQ(last, last)
	ctx.JLE(operand.LabelRef("done"))
	ctx.LEAQ(operand.Mem{Base: p, Index: last, Scale: 1, Disp: -1}, last)
	ctx.Label("loop")
	ctx.PREFETCHT0(operand.Mem{Base: p})
	ctx.ADDQ(operand.I32(64), p)
	ctx.CMPQ(p, last)
	ctx.JLS(operand.LabelRef("loop"))
	ctx.PREFETCHT0(operand.Mem{Base: last}) // the array need not begin on a line
	ctx.Label("done")
	ctx.RET()
}
