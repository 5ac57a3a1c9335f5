package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Column indices and values are read in order, but between gathers of rows of B the hardware's prefetchers lose these streams; and an
// index that is late holds up the fetching of the rows of B to come.
const (
	nonZerosAhead = 128 // between the fetch of indices and values and their use
	longRow       = 256 // bytes of a row of B from which on SpMM fetches values as well: where rows are shorter it gains nothing
)

// fetchStreams fetches, for a group of the given number of rows of B, the column indices and values that SDDMM
// reads nonZerosAhead non-zeros later. In a panel, values of the same segment only: those of the next lie elsewhere.
func (k *kernels) fetchStreams(name func(string) string, rows int, j reg.GPVirtual) {
	at := k.GP64()
	k.Load(k.Param("cols"), at)
	k.PREFETCHT0(operand.Mem{Base: at, Index: j, Scale: 4, Disp: nonZerosAhead * 4})
	if rows < 8 {
		return
	}
	segs, left := k.GP64(), k.GP64()
	k.Load(k.Param("segs"), segs)
	k.TESTQ(segs, segs)
	k.JZ(operand.LabelRef(name("values")))
	k.Load(k.Param("n"), left)
	k.SUBQ(j, left)
	k.CMPQ(left, operand.I32(nonZerosAhead+rows))
	k.JL(operand.LabelRef(name("near")))
	k.Label(name("values"))
	for _, param := range []string{"s", "p"} {
		at := k.GP64()
		k.Load(k.Param(param), at)
		k.PREFETCHT0(operand.Mem{Base: at, Index: j, Scale: uint8(k.elem()), Disp: nonZerosAhead * k.elem()})
	}
	k.Label(name("near"))
}
