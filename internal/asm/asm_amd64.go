//go:build amd64 && !noasm

package asm

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"sddmmkit/tiling"
)

func detect() Level {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.BMI2, cpuid.FMA3, cpuid.AVX2):
		return AVX512
	case c.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2):
		return AVX2
	}
	return Generic
}

// For returns the loops of the active level.
func For[T Float]() Kernels[T] {
	var k any
	_, single := any(T(0)).(float32)
	switch l := Active(); {
	case l == Generic:
		return generic[T]()
	case l == AVX2 && single:
		k = bind(sddmmF32AVX2, spmmF32AVX2, narrowF32AVX2, packedF32AVX2, nil, bindCG(cgStartF32AVX2, cgStepF32AVX2), 8)
	case l == AVX2:
		k = bind(sddmmF64AVX2, spmmF64AVX2, narrowF64AVX2, packedF64AVX2, nil, bindCG(cgStartF64AVX2, cgStepF64AVX2), 4)
	case single:
		k = bind(sddmmF32AVX512, spmmF32AVX512, narrowF32AVX512, packedF32AVX512, spmmLastF32AVX512, bindCG(cgStartF32AVX512, cgStepF32AVX512), 16)
	default:
		k = bind(sddmmF64AVX512, spmmF64AVX512, narrowF64AVX512, packedF64AVX512, nil, bindCG(cgStartF64AVX512, cgStepF64AVX512), 8)
	}
	return k.(Kernels[T])
}

// Prefetch fetches the first cache lines of a row that will be needed soon; the inner loops fetch what follows.
func Prefetch[T Float](row []T) {
	const most = 512 // bytes
	prefetch((*byte)(unsafe.Pointer(unsafe.SliceData(row))), min(len(row)*int(unsafe.Sizeof(T(0))), most))
}

type (
	sddmmFunc[T Float] = func(p, s, a *T, step int, b *T, stride int, cols *int32, n int, ptr, segs *int64, rows, ahead, depth, op int, alpha, beta T)
	spmmFunc[T Float]  = func(c *T, width int, v *T, step int, b *T, stride int, cols *int32, n int, ptr, segs, rowptr *int64, long, rows, ahead, tail, fresh, near int, alpha T)

	spmmLastFunc[T Float] = func(c *T, width int, v *T, step int, b *T, stride int, cols *int32, n int, ptr, segs, rowptr *int64, long, rows, ahead, fresh, near int, last *T, alpha T)

	sddmmNarrowFunc[T Float] = func(p, s, a *T, step int, b *T, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, op int, alpha, beta T)
	spmmNarrowFunc[T Float]  = func(c *T, width int, v *T, step int, b *T, stride int, cols *int32, n int, ptr *int64, rows, avail, ahead, fresh int, alpha T)
)

// narrow is the loops for rows of i+1 elements.
type narrow[T Float] struct {
	sddmm [Narrow]sddmmNarrowFunc[T]
	spmm  [Narrow]spmmNarrowFunc[T]
}

// thin returns the loops for rows of k elements, those of B stride elements apart.
func (l *loops[T]) thin(k, stride int) *narrow[T] {
	if stride == k {
		return &l.packed
	}
	return &l.narrow
}

// unfetched is the bytes of B up to which its narrow rows are not fetched early: so many of them are on their way
// at a time that no latency but memory's shows.
const unfetched = 2 << 20

// ahead returns the number of column indices up to which narrow rows of B are fetched.
func ahead[T Float](b []T, cols []int32) int {
	if len(b)*int(unsafe.Sizeof(T(0))) <= unfetched {
		return 0
	}
	return len(cols)
}

// bind wraps assembly in the signatures of Kernels. blocks[i] does rows of C of up to i+1 vectors, lasts[i] those of i+1 whole ones and an
// element apart.
func bind[T Float](sddmm sddmmFunc[T], blocks []spmmFunc[T], narrow, packed narrow[T], lasts []spmmLastFunc[T], cg CG[T], lanes int) Kernels[T] {
	l := loops[T]{sddmm: sddmm, blocks: blocks, lasts: lasts, narrow: narrow, packed: packed, lanes: lanes, size: int(unsafe.Sizeof(T(0))), one: slices.Repeat([]T{1}, lanes)}
	k := Kernels[T]{
		SDDMM: l.sddmmRow, SDDMMRows: l.sddmmRows, SDDMMSegments: l.sddmmSegments,
		SpMM: l.spmmRow, SpMMRows: l.spmmRows, SpMMSegments: l.spmmSegments, CG: cg,
	}
	if lasts != nil {
		k.SpMMRowsLast, k.SpMMSegmentsLast = l.spmmRowsLast, l.spmmSegmentsLast
	}
	return k
}

// loops are the functions in assembly of one level, for one element type.
type loops[T Float] struct {
	sddmm  sddmmFunc[T]
	blocks []spmmFunc[T]
	lasts  []spmmLastFunc[T]
	narrow narrow[T]
	packed narrow[T] // for rows of B that follow each other
	lanes  int       // elements of a vector
	size   int       // bytes of an element
	one    []T       // a vector of ones
}

func (l *loops[T]) sddmmRow(p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T) {
	if len(p) == 0 {
		return
	}
	_ = cols[len(p)-1]
	switch k := len(a); {
	case k == 0:
		sddmmGeneric(p, s, a, b, stride, cols, op, alpha, beta)
	case k <= Narrow:
		l.thin(k, stride).sddmm[k-1](unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a), 0, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), len(p), nil, 1, len(cols), ahead(b, cols), int(op), alpha, beta)
	default:
		l.sddmm(unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a), 0, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), len(p), nil, nil, 1, len(cols), k, int(op), alpha, beta)
	}
}

func (l *loops[T]) sddmmRows(p, s []T, a Rows[T], b []T, stride int, cols []int32, ptr []int64, op Op, alpha, beta T) {
	if len(ptr) < 2 || len(p) == 0 {
		return
	}
	check(a, ptr, min(len(p), len(cols)))
	switch {
	case a.K == 0:
		sddmmRows(p, s, a, b, stride, cols, ptr, op, alpha, beta)
	case a.K <= Narrow:
		l.thin(a.K, stride).sddmm[a.K-1](unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a.Data), a.Stride*l.size, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], len(ptr)-1, len(cols), ahead(b, cols), int(op), alpha, beta)
	default:
		l.sddmm(unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a.Data), a.Stride*l.size, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], nil, len(ptr)-1, len(cols), a.K, int(op), alpha, beta)
	}
}

func (l *loops[T]) sddmmSegments(p, s []T, a Rows[T], b []T, stride int, cols []int32, segs []tiling.Segment, op Op, alpha, beta T) {
	if a.K <= Narrow || len(segs) == 0 {
		sddmmSegments(l.sddmmRow, p, s, a, b, stride, cols, segs, op, alpha, beta)
		return
	}
	l.sddmm(unsafe.SliceData(p), unsafe.SliceData(s), unsafe.SliceData(a.Data), a.Stride*l.size, unsafe.SliceData(b), stride*l.size,
		unsafe.SliceData(cols), 0, nil, first(segs), len(segs), len(cols), a.K, int(op), alpha, beta)
}

// check panics where operands are too small for the rows of ptr, for assembly does not look. Arrays with an element for each
// non-zero have n elements or more.
func check[T Float](rows Rows[T], ptr []int64, n int) {
	if nnz := ptr[len(ptr)-1] - ptr[0]; int64(n) < nnz {
		panic(fmt.Sprintf("asm: %d elements for %d non-zeros", n, nnz))
	}
	_ = rows.Row(len(ptr) - 2)
}

// first returns the address of the first segment, as assembly takes it.
func first(segs []tiling.Segment) *int64 { return &segs[0].Lo }

func (l *loops[T]) spmmRow(c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool) {
	v, step := l.values(v)
	if k := len(c); 0 < k && k <= Narrow {
		l.thin(k, stride).spmm[k-1](unsafe.SliceData(c), 0, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), n, nil, 1, len(cols), ahead(b, cols), flag(fresh), alpha)
		return
	}
	for {
		some := min(n, l.together(len(c)))
		l.eachBlock(Rows[T]{Data: c, K: len(c)}, b, func(c Rows[T], b []T) {
			block, tail := l.vectors(c.K)
			block(unsafe.SliceData(c.Data), 0, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*l.size,
				unsafe.SliceData(cols), some, nil, nil, nil, 0, 1, len(cols), tail, flag(fresh), flag(false), alpha)
		})
		if n -= some; n == 0 {
			return
		}
		cols, fresh = cols[some:], false
		if step > 0 {
			v = v[some:]
		}
	}
}

func (l *loops[T]) spmmRows(c Rows[T], v, b []T, stride int, cols []int32, ptr []int64, alpha T, fresh, near bool) {
	if len(ptr) < 2 || c.K == 0 {
		return
	}
	values, step := l.rowValues(c, v, cols, ptr)
	if c.K <= Narrow {
		l.thin(c.K, stride).spmm[c.K-1](unsafe.SliceData(c.Data), c.Stride*l.size, unsafe.SliceData(values), step, unsafe.SliceData(b), stride*l.size,
			unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], len(ptr)-1, len(cols), ahead(b, cols), flag(fresh), alpha)
		return
	}
	for len(ptr) > 1 {
		n := countTogether(l.together(c.K), len(ptr)-1, func(i int) int64 { return ptr[i+1] - ptr[i] })
		l.eachBlock(c, b, func(c Rows[T], b []T) {
			block, tail := l.vectors(c.K)
			block(unsafe.SliceData(c.Data), c.Stride*l.size, unsafe.SliceData(values), step, unsafe.SliceData(b), stride*l.size,
				unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], nil, nil, 0, n, len(cols), tail, flag(fresh), flag(near), alpha)
		})
		done := ptr[n] - ptr[0]
		ptr, cols = ptr[n:], cols[done:]
		if step > 0 {
			values = values[done:]
		}
		if len(ptr) > 1 {
			c.Data = c.Data[n*c.Stride:]
		}
	}
}

// blockOf returns how many elements of a row of k are done in one call: about as many in each, in whole cache lines.
func (l *loops[T]) blockOf(k int) int {
	line := max(64/l.size, l.lanes)
	blocks := (k + l.block() - 1) / l.block()
	return ((k+blocks-1)/max(blocks, 1) + line - 1) / line * line
}

// eachBlock goes over rows of C block by block of columns, which are as many as one call does.
func (l *loops[T]) eachBlock(c Rows[T], b []T, call func(c Rows[T], b []T)) {
	block := l.blockOf(c.K)
	for k := c.K; k > 0; k = c.K {
		c.K = min(k, block)
		call(c, b)
		if c.K = k - c.K; c.K > 0 {
			c.Data, b = c.Data[block:], b[min(block, len(b)):]
		}
	}
}

// Rows of B of up to unitRow bytes go block by block over all rows of a unit; of longer ones groups of groupBytes are done with all of their blocks
// before the next (model.blocksApart knows that bound). The hardware's prefetchers bring lines behind a block, which are those of the next one, it seems:
// they shall still be in the second cache when its turn comes (ADR 8). A call for each block of each row, on the other hand, takes longer than the few
// non-zeros of real rows.
const (
	unitRow    = 1 << 10
	groupBytes = 128 << 10
)

// together returns how many non-zeros are done together, of rows of k elements.
func (l *loops[T]) together(k int) int {
	if k*l.size <= unitRow {
		return math.MaxInt
	}
	return max(groupBytes/(k*l.size), 1)
}

// countTogether returns how many of n rows, or segments, it takes for so many non-zeros, or n where all have fewer.
func countTogether(wanted, n int, nonZeros func(i int) int64) int {
	if wanted == math.MaxInt {
		return n
	}
	all := int64(0)
	for i := range n {
		if all += nonZeros(i); all >= int64(wanted) {
			return i + 1
		}
	}
	return n
}

func (l *loops[T]) spmmSegments(c Rows[T], v, b []T, stride int, cols []int32, segs []tiling.Segment, rowPtr []int64, long int64, alpha T, fresh, near bool) {
	if c.K <= Narrow || len(segs) == 0 {
		spmmSegments(l.spmmRow, c, v, b, stride, cols, segs, rowPtr, long, alpha, fresh)
		return
	}
	values, step := l.values(v)
	for len(segs) > 0 {
		n := countTogether(l.together(c.K), len(segs), func(i int) int64 { return int64(segs[i].N) })
		l.eachBlock(c, b, func(c Rows[T], b []T) {
			block, tail := l.vectors(c.K)
			block(unsafe.SliceData(c.Data), c.Stride*l.size, unsafe.SliceData(values), step, unsafe.SliceData(b), stride*l.size,
				unsafe.SliceData(cols), 0, nil, first(segs), unsafe.SliceData(rowPtr), int(long), n, len(cols), tail, flag(fresh), flag(near), alpha)
		})
		for _, s := range segs[:n] {
			cols = cols[s.N:]
		}
		segs = segs[n:]
	}
}

func (l *loops[T]) spmmRowsLast(c Rows[T], v, b []T, stride int, last []T, cols []int32, ptr []int64, alpha T, fresh, near bool) {
	if len(ptr) < 2 {
		return
	}
	v, step := l.rowValues(c, v, cols, ptr)
	l.last(c.K)(unsafe.SliceData(c.Data), c.Stride*l.size, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*l.size,
		unsafe.SliceData(cols), int(ptr[1]-ptr[0]), &ptr[1], nil, nil, 0, len(ptr)-1, len(cols), flag(fresh), flag(near), unsafe.SliceData(last), alpha)
}

func (l *loops[T]) spmmSegmentsLast(c Rows[T], v, b []T, stride int, last []T, cols []int32, segs []tiling.Segment, rowPtr []int64, long int64, alpha T, fresh, near bool) {
	if len(segs) == 0 {
		return
	}
	v, step := l.values(v)
	l.last(c.K)(unsafe.SliceData(c.Data), c.Stride*l.size, unsafe.SliceData(v), step, unsafe.SliceData(b), stride*l.size,
		unsafe.SliceData(cols), 0, nil, first(segs), unsafe.SliceData(rowPtr), int(long), len(segs), len(cols), flag(fresh), flag(near), unsafe.SliceData(last), alpha)
}

// last returns the loop for rows of C of k elements, the last of which lies apart in B.
func (l *loops[T]) last(k int) spmmLastFunc[T] {
	if k%l.lanes != 1 {
		panic(fmt.Sprintf("asm: rows of %d elements are not whole vectors of %d and one element", k, l.lanes))
	}
	return l.lasts[k/l.lanes-1]
}

// block returns the most elements of a row of C that one call does.
func (l *loops[T]) block() int { return len(l.blocks) * l.lanes }

// vectors returns the loop for rows of C of k elements, and how many of them are in the last vector.
func (l *loops[T]) vectors(k int) (loop spmmFunc[T], tail int) {
	n := (k + l.lanes - 1) / l.lanes
	return l.blocks[n-1], k - (n-1)*l.lanes
}

// values returns v and the bytes from one value to the next, or a vector of ones.
func (l *loops[T]) values(v []T) ([]T, int) {
	if v == nil {
		return l.one, 0
	}
	return v, l.size
}

// rowValues is values for the rows of C that ptr has; it panics as check does.
func (l *loops[T]) rowValues(c Rows[T], v []T, cols []int32, ptr []int64) ([]T, int) {
	n := len(cols)
	if v != nil {
		n = min(n, len(v))
	}
	check(c, ptr, n)
	return l.values(v)
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}
