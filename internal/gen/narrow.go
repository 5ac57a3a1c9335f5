package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// narrowAhead is the number of non-zeros between the prefetch of a narrow row of B and its use.
const narrowAhead = 64

// streamAhead is the number of bytes between the prefetch of indices and values and their use.
const streamAhead = 2048

// narrow generates a loop over rows of the sparse matrix where rows of the dense ones have at most maxNarrow
// elements. Lanes are non-zeros: a vector full at a time, and at the end of a row fewer.
type narrow struct {
	*kernels
	depth           int
	packed          bool // rows of B follow each other
	b, stride, cols reg.GPVirtual
	j               reg.GPVirtual // non-zeros done
	left            reg.GPVirtual // non-zeros of the row not yet done
}

// four is the least number of lanes of a group.
const four = 4

// begin starts the function and loads what all groups need.
func (k *kernels) beginNarrow(name, signature string, depth int, packed bool, doc ...string) *narrow {
	apart := "are stride bytes apart"
	if packed {
		apart = "follow each other, whatever stride is"
	}
	k.Function(name)
	k.Doc(append(doc,
		"Rows of B begin at b and "+apart+". The first row has n non-zeros; where there are more rows, ptr",
		"is the end of the first, followed by the ends of the others. cols has avail elements, at least as many as",
		"there are non-zeros, and rows of B are fetched early for the first ahead of them.",
	)...)
	k.SignatureExpr(signature)
	k.Pragma("noescape")
	k.Attributes(attr.NOSPLIT)
	w := &narrow{kernels: k, depth: depth, packed: packed, b: k.GP64(), stride: k.GP64(), cols: k.GP64(), j: k.GP64(), left: k.GP64()}
	k.Load(k.Param("b"), w.b)
	if !packed {
		k.Load(k.Param("stride"), w.stride)
	}
	k.Load(k.Param("cols"), w.cols)
	k.Load(k.Param("n"), w.left)
	k.XORQ(w.j, w.j)
	return w
}

func narrowName(op, suffix string, depth int, packed bool) string {
	name := fmt.Sprintf("%s%sK%d", op, suffix, depth)
	if packed {
		name += "Packed"
	}
	return name
}

// group is a number of non-zeros that are done at the same time.
type group struct {
	name  string
	lanes int
	part  bool // only the first left lanes count
	last  bool // cols may end with the row: its last index stands in for those behind it
}

func (g group) label(s string) string { return s + "_" + g.name }

// groups generates the non-zeros of a row, with do for each kind of group. Lanes behind the end of a row hold
// the non-zeros that follow, as long as there are any. Which lane a non-zero gets depends on its place in the row
// alone, and with it the order of additions.
func (w *narrow) groups(do func(g group)) {
	lanes := w.lanes()
	w.Label("next")
	w.CMPQ(w.left, operand.I32(lanes))
	w.JL(operand.LabelRef("rest"))
	do(group{name: "whole", lanes: lanes})
	w.ADDQ(operand.I32(lanes), w.j)
	w.SUBQ(operand.I32(lanes), w.left)
	w.JMP(operand.LabelRef("next"))

	w.Label("rest")
	w.TESTQ(w.left, w.left)
	w.JLE(operand.LabelRef("ended"))
	avail := w.GP64()
	w.Load(w.Param("avail"), avail)
	w.SUBQ(w.j, avail)
	w.CMPQ(avail, operand.I32(lanes))
	w.JL(operand.LabelRef("last"))
	// The fewest lanes that hold what is left.
	part := func(n int) string { return fmt.Sprintf("part%d", n) }
	for n := four; n < lanes; n *= 2 {
		w.CMPQ(w.left, operand.I32(n))
		w.JLE(operand.LabelRef(part(n)))
	}
	for n := lanes; n >= four; n /= 2 {
		w.Label(part(n))
		do(group{name: part(n), lanes: n, part: true})
		w.ADDQ(w.left, w.j)
		w.JMP(operand.LabelRef("ended"))
	}

	w.Label("last")
	do(group{name: "last", lanes: lanes, part: true, last: true})
	w.ADDQ(w.left, w.j)
	w.Label("ended")
}

// nextRow goes back to a label unless this was the last row; rows and ptr are parameters.
func (w *narrow) nextRow(label string) {
	rows, ptr := w.GP64(), w.GP64()
	w.Load(w.Param("rows"), rows)
	w.DECQ(rows)
	w.JLE(operand.LabelRef("done"))
	w.Store(rows, w.Param("rows"))
	w.Load(w.Param("ptr"), ptr)
	w.MOVQ(operand.Mem{Base: ptr, Disp: 8}, w.left)
	w.SUBQ(operand.Mem{Base: ptr}, w.left)
	w.ADDQ(operand.I32(8), ptr)
	w.Store(ptr, w.Param("ptr"))
	w.JMP(operand.LabelRef(label))
	w.Label("done")
}

// first returns min(left, n).
func (w *narrow) first(n int) reg.GPVirtual {
	m := w.GP64()
	w.MOVQ(operand.I32(n), m)
	w.CMPQ(w.left, m)
	w.CMOVQLT(w.left, m)
	return m
}

// mask returns the lanes of a group that count.
func (w *narrow) mask(g group) mask {
	if !g.part {
		return mask{}
	}
	return w.firstLanes(w.first(g.lanes))
}

// load returns the columns of the rows of B of a group, and fetches those of a group to come.
func (w *narrow) load(g group) []reg.VecVirtual {
	ahead := w.GP64()
	w.Load(w.Param("ahead"), ahead)
	w.SUBQ(w.j, ahead)
	w.CMPQ(ahead, operand.I32(narrowAhead+g.lanes))
	w.JL(operand.LabelRef(g.label("fetched")))
	for r := range g.lanes {
		p := w.GP64()
		w.MOVLQSX(operand.Mem{Base: w.cols, Index: w.j, Scale: 4, Disp: 4 * (narrowAhead + r)}, p)
		w.PREFETCHT0(w.row(p))
	}
	w.Label(g.label("fetched"))
	w.PREFETCHT0(operand.Mem{Base: w.cols, Index: w.j, Scale: 4, Disp: streamAhead})
	from, most := w.GP64(), w.GP64()
	w.LEAQ(operand.Mem{Base: w.cols, Index: w.j, Scale: 4}, from)
	if g.last {
		w.LEAQ(operand.Mem{Base: w.left, Disp: -1}, most)
	}
	var second reg.GPVirtual
	return w.columns(w.depth, g.lanes*w.elem(), func(r int) operand.Mem {
		p := w.GP64()
		switch {
		case g.last && r == 0:
			w.MOVLQSX(operand.Mem{Base: from}, p)
		case g.last:
			w.MOVQ(operand.I32(r), p)
			w.CMPQ(p, most)
			w.CMOVQGT(most, p)
			w.MOVLQSX(operand.Mem{Base: from, Index: p, Scale: 4}, p)
		case r%2 == 0: // two indices in one load: loads are what there is most of
			second = w.GP64()
			w.MOVQ(operand.Mem{Base: from, Disp: 4 * r}, second)
			w.MOVL(second.As32(), p.As32())
		default:
			p = second
			w.SHRQ(operand.U8(32), p)
		}
		return w.row(p)
	})
}

// row returns where row p of B is; p changes.
func (w *narrow) row(p reg.GPVirtual) operand.Mem {
	if !w.packed {
		w.IMULQ(w.stride, p)
		return operand.Mem{Base: w.b, Index: p, Scale: 1}
	}
	times, scale := w.depth, w.elem()
	for times%2 == 0 && scale < 8 {
		times, scale = times/2, scale*2
	}
	switch times {
	case 2:
		w.ADDQ(p, p)
	case 3:
		w.LEAQ(operand.Mem{Base: p, Index: p, Scale: 2}, p)
	case 4:
		w.SHLQ(operand.U8(2), p)
	}
	return operand.Mem{Base: w.b, Index: p, Scale: uint8(scale)}
}

// sddmmNarrow generates SDDMM for rows of depth elements, those of B packed or not.
func (k *kernels) sddmmNarrow(depth int, packed bool) {
	name := narrowName("sddmm", k.suffix(), depth, packed)
	w := k.beginNarrow(name, fmt.Sprintf("func(p, s, a *%[1]s, step int, b *%[1]s, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, op int, alpha, beta %[1]s)", k.goType()), depth, packed,
		fmt.Sprintf("%s computes p[j] = alpha·f(s[j], ⟨A_i, B_cols[j]⟩) + beta·p[j] for the non-zeros j of all rows i, for dense", name),
		fmt.Sprintf("rows of %d elements. Rows of A begin at a and are step bytes apart. The bits of op are those of type Op.", depth))

	k.Label("row")
	a, step := k.GP64(), k.GP64()
	k.Load(k.Param("a"), a)
	av := make([]reg.VecVirtual, depth)
	for i := range av {
		av[i] = k.reg()
		k.broadcast(operand.Mem{Base: a, Disp: i * k.elem()}, av[i])
	}
	k.Load(k.Param("step"), step)
	k.ADDQ(step, a)
	k.Store(a, k.Param("a"))
	w.groups(func(g group) {
		x := w.load(g)
		d := k.reg()
		k.mul(x[0], av[0], d)
		for i := 1; i < depth; i++ {
			k.fma(x[i], av[i], d)
		}
		at := func(param string) operand.Mem {
			base := k.GP64()
			k.Load(k.Param(param), base)
			return operand.Mem{Base: base, Index: w.j, Scale: uint8(k.elem())}
		}
		for _, param := range []string{"p", "s"} {
			mem := at(param)
			mem.Disp = streamAhead
			k.PREFETCHT0(mem)
		}
		m, bytes := w.mask(g), g.lanes*k.elem()
		s, t := part(k.reg(), bytes), part(k.reg(), bytes)
		k.testOp(opContinue)
		k.JZ(operand.LabelRef(g.label("begun")))
		k.loadMasked(at("p"), m, s)
		k.add(s, part(d, bytes), part(d, bytes))
		k.Label(g.label("begun"))
		k.finish(g.label, m, part(d, bytes), s, t, at)
	})
	w.nextRow("row")
	k.VZEROUPPER()
	k.RET()
}

// stretchElems is the number of non-zeros after which SpMM adds up its lanes. The caller collects as many
// values at a time where they are not in order.
const stretchElems = 256

// spmmNarrow generates SpMM for rows of depth elements, those of B packed or not. Each lane adds up its non-zeros, so that additions need not
// wait for each other.
func (k *kernels) spmmNarrow(depth int, packed bool) {
	name := narrowName("spmm", k.suffix(), depth, packed)
	w := k.beginNarrow(name, fmt.Sprintf("func(c *%[1]s, width int, v *%[1]s, step int, b *%[1]s, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, fresh int, alpha %[1]s)", k.goType()), depth, packed,
		fmt.Sprintf("%s adds alpha·Σ_j v[j]·B_cols[j] over the non-zeros j of each row to a row of C, or sets it when fresh is", name),
		fmt.Sprintf("not 0, for dense rows of %d elements. Rows of C begin at c and are width bytes apart. v advances by step", depth),
		"bytes; if step is 0, v holds a vector of equal values.")

	bytes := four * k.elem() // hold a row of C
	v, step, rest := k.GP64(), k.GP64(), k.GP64()
	k.Load(k.Param("v"), v)
	k.Load(k.Param("step"), step)

	k.Label("row")
	// A row of C: zero or what it holds.
	c, fresh, out := k.GP64(), k.GP64(), k.reg()
	elements := mask{}
	if depth < four {
		n := k.GP64()
		k.MOVQ(operand.I32(depth), n)
		elements = k.firstLanes(n)
	}
	k.zero(out)
	k.Load(k.Param("fresh"), fresh)
	k.TESTQ(fresh, fresh)
	k.JNZ(operand.LabelRef("begun"))
	k.Load(k.Param("c"), c)
	k.loadMasked(operand.Mem{Base: c}, elements, part(out, bytes))
	k.Label("begun")
	k.MOVQ(w.left, rest)

	k.Label("stretch")
	k.MOVQ(operand.I32(stretchElems), w.left)
	k.CMPQ(w.left, rest)
	k.CMOVQGT(rest, w.left)
	k.SUBQ(w.left, rest)
	acc := make([]reg.VecVirtual, depth)
	for i := range acc {
		acc[i] = k.reg()
		k.zero(acc[i])
	}
	w.groups(func(g group) {
		k.PREFETCHT0(operand.Mem{Base: v, Disp: streamAhead})
		x, m := w.load(g), w.mask(g)
		value, size := k.reg(), g.lanes*k.elem()
		if size < k.width() {
			k.zero(value)
		}
		k.loadMasked(operand.Mem{Base: v}, m, part(value, size))
		for i := range acc {
			switch {
			case !g.part:
				k.fma(x[i], value, acc[i])
			case k.isa == avx512:
				k.ps(k.VFMADD231PS, k.VFMADD231PD)(x[i], value, m.k, acc[i])
			default:
				// Zero times what does not count may be NaN.
				k.VANDPS(part(m.v, size), part(x[i], size), part(x[i], size))
				k.fma(x[i], value, acc[i])
			}
		}
		bytes := k.GP64()
		if g.part {
			bytes = w.first(g.lanes)
			k.IMULQ(step, bytes)
		} else {
			k.MOVQ(step, bytes)
			k.SHLQ(operand.U8(map[int]int{4: 2, 8: 3, 16: 4}[g.lanes]), bytes)
		}
		k.ADDQ(bytes, v)
	})
	for len(acc) < 4 {
		acc = append(acc, acc[0])
	}
	alpha := k.reg()
	k.broadcast(k.param("alpha"), alpha)
	k.fma(k.sums(acc)[0], alpha, out)
	k.TESTQ(rest, rest)
	k.JG(operand.LabelRef("stretch"))

	width := k.GP64()
	k.Load(k.Param("c"), c)
	k.storeMasked(part(out, bytes), elements, operand.Mem{Base: c})
	k.Load(k.Param("width"), width)
	k.ADDQ(width, c)
	k.Store(c, k.Param("c"))
	w.nextRow("row")
	k.VZEROUPPER()
	k.RET()
}
