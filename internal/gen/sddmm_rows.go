package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setDistance sets the numbers of rows ahead for rows of the given number of bytes: rowsAhead, and half of that for what follows firstBytes.
func (k *kernels) setDistance(bytes reg.GPVirtual) {
	k.distance = k.GP64()
	k.MOVQ(operand.I32(rowsAhead(2048)), k.distance)
	for _, size := range []int{1024, 512, 256, 128} {
		k.CMPQ(bytes, operand.I32(size))
		k.JG(operand.LabelRef("ahead"))
		k.ADDQ(k.distance, k.distance)
	}
	k.Label("ahead")
	k.rest = k.GP64()
	k.MOVQ(k.distance, k.rest)
	k.CMPQ(bytes, operand.I32(twoSteps))
	k.JG(operand.LabelRef("long"))
	k.SHRQ(operand.U8(1), k.rest)
	k.Label("long")
}

// slicesByRow adds to sums the products of one group, row by row: a slice of the row of A stays in
// registers, and each row of B is read from its first byte to its last, which the hardware's
// prefetchers follow. The additions of one row depend on each other; those of different rows overlap.
func (k *kernels) slicesByRow(w *walk, g dotGroup, j, bytes reg.GPVirtual, sums []reg.VecVirtual) {
	name := g.label
	ref := func(s string) operand.Op { return operand.LabelRef(name(s)) }
	chunks := sliceBytes / k.width()
	off := k.GP64()
	k.XORQ(off, off)

	k.Label(name("slice"))
	left := k.GP64()
	k.MOVQ(bytes, left)
	k.SUBQ(off, left)
	k.CMPQ(left, operand.I32(sliceBytes+overhang*k.elem()))
	k.JG(ref("whole"))
	k.CMPQ(left, operand.I32(sliceBytes))
	k.JNE(ref("tail"))
	k.Label(name("whole"))
	if g.full {
		w.short()
		k.JL(ref("alone"))
		w.testCached()
		k.JNZ(ref("alone"))
		k.spreadSlice(w, g, j, off, sums)
		k.JMP(ref("sliced"))
		k.Label(name("alone"))
	} else {
		k.fewRows(w, g, j, off, sums)
	}
	k.slice(g, j, off, chunks, mask{}, 0, sums)
	k.Label(name("sliced"))
	k.ADDQ(operand.I32(chunks*k.width()), off)
	k.CMPQ(off, bytes)
	k.JL(ref("slice"))
	k.JMP(ref("summed"))

	k.Label(name("tail"))
	n := k.GP64()
	k.LEAQ(operand.Mem{Base: left, Disp: -1}, n)
	k.ANDQ(operand.I32(k.width()-1), n)
	k.SHRQ(k.log(k.elem()), n)
	k.INCQ(n)
	m := k.firstLanes(n)
	longest := chunks + overhang/k.lanes()
	for c := 1; c <= longest; c++ {
		next := fmt.Sprintf("more%d_", c)
		if c < longest {
			k.CMPQ(left, operand.I32(c*k.width()))
			k.JG(ref(next))
		}
		for tail := 16; g.full && c <= mostShort && tail < k.width(); tail *= 2 {
			longer := fmt.Sprintf("longer%d_%d_", tail, c)
			k.CMPQ(n, operand.I32(tail/k.elem()))
			k.JG(ref(longer))
			k.slice(g, j, off, c, m, tail, sums)
			k.JMP(ref("summed"))
			k.Label(name(longer))
		}
		k.slice(g, j, off, c, m, k.width(), sums)
		if c < longest {
			k.JMP(ref("summed"))
			k.Label(name(next))
		}
	}
	k.Label(name("summed"))
}

// fewRows generates whole slices of a group that is not full, for each number of rows by itself, where cols has more than they fetch ahead:
// segments of a panel often end so. Others go on behind it.
func (k *kernels) fewRows(w *walk, g dotGroup, j, off reg.GPVirtual, sums []reg.VecVirtual) {
	most := 4 // rows of B; of a group of eight one less, for with eight and enough to fetch it is full
	if g.rows == 8 {
		most = 7
	}
	n, ahead := k.GP64(), k.GP64()
	k.Load(k.Param("ahead"), ahead)
	k.SUBQ(j, ahead)
	k.SUBQ(k.distance, ahead)
	k.CMPQ(ahead, operand.I32(g.rows))
	k.JL(operand.LabelRef(g.label("bounded")))
	k.Load(k.Param("n"), n)
	k.SUBQ(j, n)
	for g.used = g.rows - 3; g.used <= most; g.used++ {
		other := g.label(fmt.Sprintf("not%d_", g.used))
		k.CMPQ(n, operand.I32(g.used))
		k.JNE(operand.LabelRef(other))
		k.spreadSlice(w, g, j, off, sums)
		k.JMP(operand.LabelRef(g.label("sliced")))
		k.Label(other)
	}
	k.Label(g.label("bounded"))
}

// spreadSlice is slice for whole ones of long rows: it fetches as many lines of the row of A of a later segment as there are rows of B. Where
// rows are short, or later ones not to be fetched, these lines are of the row itself, and near.
func (k *kernels) spreadSlice(w *walk, g dotGroup, j, off reg.GPVirtual, sums []reg.VecVirtual) {
	next, last, at := k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(w.spread.from, next)
	k.MOVQ(w.spread.last, last)
	k.Load(k.Param("a"), at) // is near: fetched in its place where nothing is left
	k.CMPQ(next, last)
	k.CMOVQNE(next, at)
	k.ADDQ(operand.I32(64*g.inUse()), next)
	k.CMPQ(next, last)
	k.CMOVQHI(last, next)
	k.MOVQ(next, w.spread.from)
	g.beside = func(r int) { k.PREFETCHT1(operand.Mem{Base: at, Disp: 64 * r}) }
	k.slice(g, j, off, sliceBytes/k.width(), mask{}, 0, sums)
}

// slice adds to sums the products of one slice of the given number of chunks at byte off of each row.
// Without a mask all chunks are whole, else the last has the lanes of the mask, which lie in its first tail bytes.
func (k *kernels) slice(g dotGroup, j, off reg.GPVirtual, chunks int, m mask, tail int, sums []reg.VecVirtual) {
	a := k.GP64()
	k.Load(k.Param("a"), a)
	av := make([]reg.VecVirtual, chunks)
	for c := range av {
		av[c] = k.reg()
		mem := operand.Mem{Base: a, Index: off, Scale: 1, Disp: c * k.width()}
		if c == chunks-1 && m.k != nil {
			k.loadMasked(mem, m, av[c])
		} else {
			k.load(mem, av[c])
		}
	}
	cols, b, stride := k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("cols"), cols)
	k.LEAQ(operand.Mem{Base: cols, Index: j, Scale: 4}, cols)
	k.Load(k.Param("b"), b)
	k.ADDQ(off, b)
	k.Load(k.Param("stride"), stride)
	last, ahead := k.GP64(), k.GP64()
	if g.part() {
		k.Load(k.Param("n"), last)
		k.SUBQ(j, last)
		k.DECQ(last)
		k.Load(k.Param("ahead"), ahead)
		k.SUBQ(j, ahead)
		k.DECQ(ahead)
	}
	// at returns the address of the row of B that the index at the given place asks for.
	at := func(place operand.Mem) reg.GPVirtual {
		p := k.GP64()
		k.MOVLQSX(place, p)
		k.IMULQ(stride, p)
		k.ADDQ(b, p)
		return p
	}
	// before returns the place of an index, or of the last before the limit.
	before := func(index operand.Op, limit reg.GPVirtual) operand.Mem {
		p := k.GP64()
		k.MOVQ(index, p)
		k.CMPQ(p, limit)
		k.CMOVQGT(limit, p)
		return operand.Mem{Base: cols, Index: p, Scale: 4}
	}
	// row returns the address of row r of the group, or of its last.
	row := func(r int) reg.GPVirtual {
		if !g.part() || r == 0 {
			return at(operand.Mem{Base: cols, Disp: 4 * r})
		}
		return at(before(operand.I32(r), last))
	}
	// later returns the address of the row that comes so much later than row r.
	later := func(r int, distance reg.GPVirtual) reg.GPVirtual {
		if !g.part() {
			return at(operand.Mem{Base: cols, Index: distance, Scale: 4, Disp: 4 * r})
		}
		index := k.GP64()
		k.LEAQ(operand.Mem{Base: distance, Disp: r}, index)
		return at(before(index, ahead))
	}
	rowBytes := chunks * k.width()
	first, long := firstBytes(rowBytes), rowBytes > shortRow
	if long && g.near {
		first = nearBytes
	}
	acc, short := make([]reg.VecVirtual, g.rows), k.reg()
	if m.k != nil || g.inUse() < g.rows {
		k.zero(short)
	}
	for r := range acc {
		if r >= g.inUse() {
			acc[r] = short
			continue
		}
		// Full groups fetch the lines of both rows between the products.
		early := later(r, k.distance)
		var rest reg.GPVirtual
		switch {
		case g.full && first < rowBytes && !g.near:
			rest = later(r, k.rest)
		case !g.full && !long:
			k.fetchLines(early, 0, rowBytes)
		case !g.full:
			label := g.label(fmt.Sprintf("fetched%d_%d_%d_%d_", chunks, tail, r, g.used))
			k.fetchLines(early, 0, nearBytes)
			k.testOp(opNear)
			k.JNZ(operand.LabelRef(label))
			k.fetchLines(early, nearBytes, first)
			if first < rowBytes {
				k.fetchLines(later(r, k.rest), first, rowBytes)
			}
			k.Label(label)
		}
		p := row(r)
		if g.beside != nil {
			g.beside(r)
		}
		acc[r] = k.reg()
		for c := range av {
			mem := operand.Mem{Base: p, Disp: c * k.width()}
			switch at := c * k.width(); {
			case g.full && at < first:
				k.fetchLines(early, at, at+k.width())
			case g.full && !g.near:
				k.fetchLines(rest, at, at+k.width())
			}
			switch masked := c == chunks-1 && m.k != nil; {
			case masked && (c == 0 || tail < k.width()):
				k.loadMasked(mem, m, part(short, tail))
				if c == 0 {
					k.mul(short, av[c], acc[r])
				} else {
					k.fma(short, av[c], acc[r])
				}
			case c == 0:
				k.mul(mem, av[0], acc[r])
			case masked:
				k.fmaMasked(mem, av[c], m, acc[r])
			default:
				k.fma(mem, av[c], acc[r])
			}
		}
	}
	for i, s := range k.sums(acc) {
		k.add(s, sums[i], sums[i])
	}
}
