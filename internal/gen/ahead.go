package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of B are fetched before they are used: bytesAhead of them are on their way, which hides the latency of memory. More would
// push what waits for its use out of the first cache.
const bytesAhead = 8192

// Where rows of B are near, in a cache of the thread or not far beyond it, of those longer than shortRow only the first nearBytes are fetched: the
// hardware's prefetchers follow, and to read each line twice, early and for its use, costs more than they miss. From memory it does not.
const (
	shortRow  = 256
	nearBytes = 128
)

// twoSteps is the length up to which rows of B that are not near, and longer than shortRow, are fetched in two steps: their first half, and half as
// far ahead the other one, which the hardware's prefetchers have, it seems, begun to bring then. Longer rows do not gain by it.
const twoSteps = 576

// rowsAhead is the number of rows of B of the given bytes between the fetch of one and its use.
func rowsAhead(bytes int) int { return max(bytesAhead/bytes, 4) }

// firstBytes are those that are fetched so far ahead of a row of B that is not near. The others are half as far.
func firstBytes(bytes int) int {
	if bytes <= shortRow || bytes > twoSteps {
		return bytes
	}
	return (bytes/2 + 63) &^ 63
}

// fetchLines fetches the lines from byte lo to byte hi of a row of B.
func (k *kernels) fetchLines(row reg.GPVirtual, lo, hi int) {
	for at := lo; at < hi; at += 64 {
		k.PREFETCHT0(operand.Mem{Base: row, Disp: at})
	}
}
