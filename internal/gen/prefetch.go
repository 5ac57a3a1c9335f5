package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// prefetch generates a function that fetches the lines of three arrays.
func prefetch(ctx *build.Context) {
	ctx.Function("prefetch3")
	ctx.Attributes(attr.NOSPLIT)
	ctx.Pragma("noescape")
	ctx.Doc("prefetch3 fetches the cache lines of three arrays of the given numbers of bytes.")
	ctx.SignatureExpr("func(a *byte, an int, b *byte, bn int, c *byte, cn int)")
	for _, name := range []string{"a", "b", "c"} {
		p, last := ctx.GP64(), ctx.GP64()
		ctx.Load(ctx.Param(name), p)
		ctx.Load(ctx.Param(name+"n"), last)
		loop, done := fmt.Sprintf("loop_%s", name), fmt.Sprintf("done_%s", name)
		ctx.TESTQ(last, last)
		ctx.JLE(operand.LabelRef(done))
		ctx.LEAQ(operand.Mem{Base: p, Index: last, Scale: 1, Disp: -1}, last)
		ctx.Label(loop)
		ctx.PREFETCHT0(operand.Mem{Base: p})
		ctx.ADDQ(operand.I32(64), p)
		ctx.CMPQ(p, last)
		ctx.JLS(operand.LabelRef(loop))
		ctx.PREFETCHT0(operand.Mem{Base: last}) // the array need not begin on a line
		ctx.Label(done)
	}
	ctx.RET()
}
