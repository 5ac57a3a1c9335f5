package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// spmm generates rows of C for a block of at most chunks vectors of columns: a block stays in
// registers over the non-zeros of its row, which are added strictly in order, so that cutting a row into
// several calls changes no bit. With apart the last vector is one element, and those of B have a column of their own.
func (k *kernels) spmm(chunks int, apart bool) {
	t := k.goType()
	name := fmt.Sprintf("spmm%sx%d", k.suffix(), chunks)
	rows := fmt.Sprintf("for dense rows of %d to %d elements: all but the last vector are whole, the last has tail ≥ 1 elements. Rows of C begin", (chunks-1)*k.lanes()+1, chunks*k.lanes())
	params, bytes := "tail, fresh, near int", chunks*k.width() // bytes of a row of B
	if apart {
		name = fmt.Sprintf("spmmLast%sx%d", k.suffix(), chunks)
		rows = fmt.Sprintf("for dense rows of %d elements, the last of which is last[c] for row c of B. Rows of C begin", (chunks-1)*k.lanes()+1)
		params, bytes = "fresh, near int, last *"+t, bytes-k.width()
	}
	k.Function(name)
	k.Doc(
		fmt.Sprintf("%s adds Σ_j (alpha·v[j])·B_cols[j] over the non-zeros j of each row to a row of C, or sets it when fresh is not 0,", name),
		rows,
		"at c and are width bytes apart, those of B begin at b and are stride bytes apart. v advances by step bytes. "+walkDoc[0],
		walkDoc[1],
		walkDoc[2]+" Of a row in segments only the first",
		"sets it, which begins where rowptr says, and rows of at least long non-zeros are left out.",
	)
	k.SignatureExpr(fmt.Sprintf("func(c *%[1]s, width int, v *%[1]s, step int, b *%[1]s, stride int, cols *int32, n int, ptr, segs, rowptr *int64, long, rows, ahead, %[2]s, alpha %[1]s)", t, params))
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	ref := func(s string) operand.Op { return operand.LabelRef(s) }

	tail, lastColumn := k.GP64(), k.GP64()
	if apart {
		k.MOVQ(operand.I32(1), tail)
		k.Load(k.Param("last"), lastColumn)
	} else {
		k.Load(k.Param("tail"), tail)
	}
	m := k.firstLanes(tail)
	b, stride := k.GP64(), k.GP64()
	k.Load(k.Param("b"), b)
	k.Load(k.Param("stride"), stride)
	alpha := k.reg()
	k.broadcast(k.param("alpha"), alpha)
	spread := chunks*k.width() >= spreadRow
	w := k.beginWalk(array{param: "c", step: "width", rows: true, spread: spread}, array{param: "v", step: "step"})

	k.Label("row")
	n, ahead, fetched := k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("n"), n)
	k.Load(k.Param("ahead"), ahead)
	acc := make([]reg.VecVirtual, chunks)
	for i := range acc {
		acc[i] = k.reg()
		k.zero(acc[i])
	}
	fresh, seg := k.GP64(), k.GP64()
	k.Load(k.Param("fresh"), fresh)
	k.MOVQ(ahead, fetched) // values are, up to the last of all rows
	k.Load(k.Param("segs"), seg)
	k.TESTQ(seg, seg)
	k.JZ(ref("whole"))
	k.MOVQ(n, fetched) // or of the segment, for those of the next lie elsewhere
	ptr, at, begins := k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("rowptr"), ptr)
	k.MOVLQSX(operand.Mem{Base: seg, Disp: segRow - segSize}, at)
	k.MOVQ(operand.Mem{Base: ptr, Index: at, Scale: 8}, begins)
	k.MOVQ(operand.Mem{Base: ptr, Index: at, Scale: 8, Disp: 8}, at)
	k.SUBQ(begins, at)
	k.CMPQ(at, k.param("long"))
	k.JGE(ref("done"))
	k.CMPQ(begins, operand.Mem{Base: seg, Disp: segLo - segSize})
	k.JNE(ref("add"))
	k.Label("whole")
	k.TESTQ(fresh, fresh)
	k.JNZ(ref("begin"))
	k.Label("add")
	c := k.GP64()
	k.Load(k.Param("c"), c)
	for i := range chunks - 1 {
		k.load(operand.Mem{Base: c, Disp: i * k.width()}, acc[i])
	}
	k.loadMasked(operand.Mem{Base: c, Disp: (chunks - 1) * k.width()}, m, acc[chunks-1])
	k.Label("begin")

	next, last := k.GP64(), k.GP64()
	if spread {
		k.MOVQ(w.spread.from, next)
		k.MOVQ(w.spread.last, last)
	}
	v, step, cols := k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("v"), v)
	k.Load(k.Param("step"), step)
	k.Load(k.Param("cols"), cols)
	k.TESTQ(n, n)
	k.JLE(ref("store"))

	least, most := 16, k.width() // bytes of the last vector, see mostShort
	if chunks > mostShort {
		least = most
	}
	if apart {
		most = least
	}
	for size := least; size < most; size *= 2 {
		k.Load(k.Param("tail"), tail)
		k.CMPQ(tail, operand.I32(size/k.elem()))
		k.JLE(operand.LabelRef(fmt.Sprintf("next%d", size)))
	}
	for size := most; size >= least; size /= 2 {
		label := fmt.Sprintf("next%d", size)
		k.Label(label)
		k.fetchLater(b, stride, cols, ahead, bytes, size)
		k.PREFETCHT0(operand.Mem{Base: cols, Disp: nonZerosAhead * 4})
		if bytes >= longRow {
			none := fmt.Sprintf("values%d", size)
			k.CMPQ(fetched, operand.I32(nonZerosAhead))
			k.JLE(ref(none))
			k.PREFETCHT0(operand.Mem{Base: v, Disp: nonZerosAhead * k.elem()})
			k.Label(none)
		}
		if spread {
			k.PREFETCHT1(operand.Mem{Base: next})
			k.ADDQ(operand.I32(64), next)
			k.CMPQ(next, last)
			k.CMOVQHI(last, next)
		}
		row := k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols}, row)
		lastVector := operand.Mem{Base: row, Disp: (chunks - 1) * k.width()}
		if apart {
			at := k.GP64()
			k.MOVQ(row, at)
			lastVector = operand.Mem{Base: lastColumn, Index: at, Scale: uint8(k.elem())}
		}
		k.IMULQ(stride, row)
		k.ADDQ(b, row)
		value := k.reg()
		k.broadcast(operand.Mem{Base: v}, value)
		k.mul(alpha, value, value)
		for i := range chunks - 1 {
			k.fma(operand.Mem{Base: row, Disp: i * k.width()}, value, acc[i])
		}
		if apart { // a scalar, for a masked load may reach into the next line
			k.VFMADD231SS(lastVector, part(value, 16), part(acc[chunks-1], 16))
		} else {
			k.fmaMasked(lastVector, part(value, size), m, part(acc[chunks-1], size))
		}
		k.ADDQ(step, v)
		k.ADDQ(operand.I32(4), cols)
		k.DECQ(ahead)
		k.DECQ(fetched)
		k.DECQ(n)
		k.JNZ(ref(label))
		if size > least {
			k.JMP(ref("store"))
		}
	}

	k.Label("store")
	if spread {
		w.fetchRest(next, last)
	}
	k.Load(k.Param("c"), c)
	for i := range chunks - 1 {
		k.load(acc[i], operand.Mem{Base: c, Disp: i * k.width()})
	}
	k.storeMasked(acc[chunks-1], m, operand.Mem{Base: c, Disp: (chunks - 1) * k.width()})
	w.nextRow("row", operand.I32(chunks*k.width()))
}

// fetchLater fetches what is worth fetching of later rows of B, of the given bytes, where cols, of which ahead elements are left, goes so far. size
// makes labels unique.
func (k *kernels) fetchLater(b, stride, cols, ahead reg.GPVirtual, bytes, size int) {
	fetch := func(distance, lo, hi int, label string) {
		k.CMPQ(ahead, operand.I32(distance+1))
		k.JL(operand.LabelRef(label))
		row := k.GP64()
		k.MOVLQSX(operand.Mem{Base: cols, Disp: 4 * distance}, row)
		k.IMULQ(stride, row)
		k.ADDQ(b, row)
		k.fetchLines(row, lo, hi)
	}
	near, rest, fetched := fmt.Sprintf("near%d", size), fmt.Sprintf("rest%d", size), fmt.Sprintf("fetched%d", size)
	if bytes > shortRow {
		k.CMPQ(k.param("near"), operand.I8(0))
		k.JNE(operand.LabelRef(near))
	}
	distance, first := rowsAhead(bytes), firstBytes(bytes)
	fetch(distance, 0, first, rest)
	k.Label(rest)
	if first < bytes {
		fetch(distance/2, first, bytes, fetched)
	}
	if bytes > shortRow {
		k.JMP(operand.LabelRef(fetched))
		k.Label(near)
		fetch(distance, 0, nearBytes, fetched)
	}
	k.Label(fetched)
}
