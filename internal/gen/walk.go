package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// walkDoc says what the parameters of a walk are.
var walkDoc = [...]string{
	"The first row",
	"has n non-zeros; where there are more, ptr is the end of the first, followed by the ends of the others. Or segs are rows segments of",
	"a panel, and n is 0. cols has ahead elements, of which those behind the last non-zero are only fetched early.",
}

// segmentsAhead is the number of rows, or of segments, between the fetch of a row of A or C and its values and their use.
const segmentsAhead = 4

// mostAhead bounds the bytes of a row of A or C that are fetched early at once: rows are short, and the hardware's prefetchers have hardly found one
// when it ends. In panels rows have few non-zeros to hide them behind, and a burst of fetches keeps rows of B waiting, so that
// less of the row of a segment is fetched, and of its values even less, for the loops fetch these themselves farther on (nonZerosAhead).
const (
	mostAhead   = 2048
	mostSegment = 1024
	mostValues  = 512
)

// spreadRow is the bytes of a row of A, or of a block of a row of C, from which on loops of AVX-512 fetch those of a later row line by line, one
// beside each row of B: a core waits for so many lines at most, and while it waits for a burst of them, rows of B wait too. They go
// to the second cache, for the first has room for what comes sooner.
const spreadRow = 1024

// manyNonZeros are as many as SDDMM multiplies at once.
const manyNonZeros = 8

// Fields of a tiling.Segment.
const (
	segLo   = 0
	segN    = 8
	segRow  = 12
	segSize = 16
)

// array is a parameter that advances by step bytes, a parameter too, for each row or for each of its non-zeros; without
// step, by an element.
type array struct {
	param, step string
	rows        bool
	nonEmpty    bool // rows without non-zeros are not fetched
	spread      bool // the loop fetches later rows line by line: see walk.spread
}

// walk goes over rows of the sparse matrix, or over the segments of a panel.
type walk struct {
	*kernels
	arrays []array
	first  []operand.Mem                    // where the arrays begin, for segments
	spread struct{ from, last operand.Mem } // what is left to fetch of a later row: its first and last byte, the same for nothing
	short  func()                           // compares the bytes of a row with spreadRow where that is not known: shorter ones are fetched at once
	// testCached clears the zero flag where long rows are in a cache that threads share: behind manyNonZeros or more the hardware's
	// prefetchers bring them in time, and fetches beside these took 4 % longer. Behind fewer they gained up to 9 %, and from memory up to 16 %.
	testCached func()
}

// beginWalk generates the way to the first row, or segment. Parameters are as walkDoc says; those of arrays are the place of
// the current row from here on.
func (k *kernels) beginWalk(arrays ...array) *walk {
	w := &walk{kernels: k, arrays: arrays}
	segs := k.GP64()
	k.Load(k.Param("segs"), segs)
	k.TESTQ(segs, segs)
	for _, a := range arrays {
		first, p := k.AllocLocal(8), k.GP64()
		k.Load(k.Param(a.param), p)
		k.MOVQ(p, first)
		w.first = append(w.first, first)
		if a.spread {
			w.spread.from, w.spread.last = k.AllocLocal(8), k.AllocLocal(8)
			k.MOVQ(p, w.spread.from)
			k.MOVQ(p, w.spread.last)
		}
	}
	k.JNZ(operand.LabelRef("segment"))
	return w
}

// nextRow generates what follows a row: label "done", and a jump to label where there is one more, else the end, label "return".
// bytes is the length of a dense row.
func (w *walk) nextRow(label string, bytes operand.Op) {
	w.Label("done")
	n, cols, ahead, rows, segs := w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("rows"), rows)
	w.DECQ(rows)
	w.JLE(operand.LabelRef("return"))
	w.Store(rows, w.Param("rows"))
	w.Load(w.Param("n"), n)
	w.Load(w.Param("cols"), cols)
	w.LEAQ(operand.Mem{Base: cols, Index: n, Scale: 4}, cols)
	w.Store(cols, w.Param("cols"))
	w.Load(w.Param("ahead"), ahead)
	w.SUBQ(n, ahead)
	w.Store(ahead, w.Param("ahead"))
	w.Load(w.Param("segs"), segs)
	w.TESTQ(segs, segs)
	w.JNZ(operand.LabelRef("segment"))

	for _, a := range w.arrays {
		p, by := w.GP64(), w.GP64()
		w.Load(w.Param(a.param), p)
		if a.rows {
			w.Load(w.Param(a.step), by)
			w.ADDQ(by, p)
			if a.nonEmpty {
				w.skipEmpty(rows, "fetched_row")
			}
			w.later("row", a, operand.Mem{Base: p, Index: by, Scale: segmentsAhead}, bytes, mostAhead)
			w.Label("fetched_row")
		} else {
			w.MOVQ(n, by)
			w.steps(a, by)
			w.ADDQ(by, p)
		}
		w.Store(p, w.Param(a.param))
	}
	ptr := w.GP64()
	w.Load(w.Param("ptr"), ptr)
	w.MOVQ(operand.Mem{Base: ptr, Disp: 8}, n)
	w.SUBQ(operand.Mem{Base: ptr}, n)
	w.Store(n, w.Param("n"))
	w.ADDQ(operand.I32(8), ptr)
	w.Store(ptr, w.Param("ptr"))
	w.JMP(operand.LabelRef(label))

	w.Label("segment")
	w.segment(label, bytes)
	w.Label("return")
	w.VZEROUPPER()
	w.RET()
}

// fetchRest generates the fetch of the lines from byte next to byte last, unless they are the same. next is lost.
func (w *walk) fetchRest(next, last reg.GPVirtual) {
	w.CMPQ(next, last)
	w.JEQ(operand.LabelRef("all"))
	w.Label("rest")
	w.PREFETCHT1(operand.Mem{Base: next})
	w.ADDQ(operand.I32(64), next)
	w.CMPQ(next, last)
	w.JCS(operand.LabelRef("rest"))
	w.PREFETCHT1(operand.Mem{Base: last})
	w.Label("all")
}

// skipEmpty generates a jump over the fetch of a row that is not among those left, or has no non-zeros.
func (w *walk) skipEmpty(left reg.GPVirtual, label string) {
	w.CMPQ(left, operand.I32(segmentsAhead))
	w.JLE(operand.LabelRef(label))
	ptr, end := w.GP64(), w.GP64()
	w.Load(w.Param("ptr"), ptr)
	w.MOVQ(operand.Mem{Base: ptr, Disp: 8 * (segmentsAhead + 1)}, end)
	w.CMPQ(end, operand.Mem{Base: ptr, Disp: 8 * segmentsAhead})
	w.JEQ(operand.LabelRef(label))
}

// steps makes of a number of rows or non-zeros the bytes by which they advance an array.
func (w *walk) steps(a array, count reg.GPVirtual) {
	if a.step == "" {
		w.SHLQ(w.log(w.elem()), count)
		return
	}
	step := w.GP64()
	w.Load(w.Param(a.step), step)
	w.IMULQ(step, count)
}

// segment generates the way to the next segment.
func (w *walk) segment(label string, bytes operand.Op) {
	seg, n, rows := w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("segs"), seg)
	place := func(i, ahead int) operand.Mem {
		at, first := w.GP64(), w.GP64()
		if w.arrays[i].rows {
			w.MOVLQSX(operand.Mem{Base: seg, Disp: ahead*segSize + segRow}, at)
		} else {
			w.MOVQ(operand.Mem{Base: seg, Disp: ahead*segSize + segLo}, at)
		}
		w.steps(w.arrays[i], at)
		w.MOVQ(w.first[i], first)
		return operand.Mem{Base: first, Index: at, Scale: 1}
	}
	for i, a := range w.arrays {
		p := w.GP64()
		w.LEAQ(place(i, 0), p)
		w.Store(p, w.Param(a.param))
		if a.spread {
			w.MOVQ(p, w.spread.from)
			w.MOVQ(p, w.spread.last)
		}
	}
	w.MOVLQSX(operand.Mem{Base: seg, Disp: segN}, n)
	w.Store(n, w.Param("n"))
	w.Load(w.Param("rows"), rows)
	w.CMPQ(rows, operand.I32(segmentsAhead))
	w.JLE(operand.LabelRef("fetched"))
	for i, a := range w.arrays {
		later := place(i, segmentsAhead)
		length := bytes
		if !a.rows {
			n := w.GP64()
			w.MOVLQSX(operand.Mem{Base: seg, Disp: segmentsAhead*segSize + segN}, n)
			w.SHLQ(w.log(w.elem()), n)
			length = n
		}
		most := mostSegment
		if !a.rows {
			most = mostValues
		}
		w.later("segment_"+a.param, a, later, length, most)
	}
	w.Label("fetched")
	w.ADDQ(operand.I32(segSize), seg)
	w.Store(seg, w.Param("segs"))
	w.JMP(operand.LabelRef(label))
}

// later generates what is done about the bytes of an array that will be needed soon: they are fetched, up to limit, or are left to the loop.
func (w *walk) later(name string, a array, from operand.Mem, bytes operand.Op, limit int) {
	if !a.spread {
		w.fetch(name, from, bytes, limit)
		return
	}
	p := w.GP64()
	w.LEAQ(from, p)
	if w.short != nil {
		w.short()
		w.JL(operand.LabelRef("short_" + name))
		w.testCached()
		w.JZ(operand.LabelRef("far_" + name))
		n := w.GP64()
		w.Load(w.Param("n"), n)
		w.CMPQ(n, operand.I32(manyNonZeros))
		w.JGE(operand.LabelRef("long_" + name))
		w.Label("far_" + name)
	}
	w.MOVQ(p, w.spread.from)
	w.ADDQ(bytes, p)
	w.DECQ(p)
	w.MOVQ(p, w.spread.last)
	if w.short != nil {
		w.JMP(operand.LabelRef("long_" + name))
		w.Label("short_" + name)
		w.fetch(name, operand.Mem{Base: p}, bytes, limit)
		w.Label("long_" + name)
	}
}

// fetch fetches the first lines of the given number of bytes, up to limit.
func (w *walk) fetch(name string, from operand.Mem, bytes operand.Op, limit int) {
	p, left, most := w.GP64(), w.GP64(), w.GP64()
	w.LEAQ(from, p)
	w.MOVQ(bytes, left)
	w.MOVQ(operand.I32(limit), most)
	w.CMPQ(left, most)
	w.CMOVQGT(most, left)
	w.Label("fetch_" + name)
	w.PREFETCHT0(operand.Mem{Base: p})
	w.ADDQ(operand.I32(64), p)
	w.SUBQ(operand.I32(64), left)
	w.JG(operand.LabelRef("fetch_" + name))
	w.PREFETCHT0(operand.Mem{Base: p, Index: left, Scale: 1, Disp: -1}) // they need not begin on a line
}
