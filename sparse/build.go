package sparse

import (
	"context"
	"fmt"
	"unsafe"

	"sddmmkit/internal/parallel"
)

// Duplicates says what becomes of triplets with the same row and column.
type Duplicates int

const (
	ErrorOnDuplicates Duplicates = iota // FromCOO fails with a *DuplicateError
	SumDuplicates                       // values are added, in the order of the triplets
	LastDuplicate                       // the last of the triplets counts
)

// BuildOptions configures FromCOO. The zero value fails on duplicates and uses all CPUs.
type BuildOptions struct {
	Duplicates Duplicates
	Threads    int // at most this many goroutines; 0 means all CPUs
}

// FromCOO builds compressed rows from triplets in any order. The rows of the result are sorted by
// column. The triplets are read only and nothing of theirs is kept.
//
// Entries are placed in time proportional to their number by counting rows, and then sorted
// within each row. The result has the same bits for any number of threads. While it builds,
// triplets and result together take at most 2.5 times the memory of the result (plus a fixed
// 16 KiB or so per thread), provided that few triplets are merged: merging shortens the slices of
// the result and not what stands behind them.
//
// The error names the first entry whose row or column is out of range, or, as a *DuplicateError,
// the first position in row order that is given more than once.
func FromCOO[T Float](c *COO[T], opt BuildOptions) (*CSR[T], error) {
	if opt.Duplicates < ErrorOnDuplicates || opt.Duplicates > LastDuplicate {
		return nil, fmt.Errorf("sparse.FromCOO: unknown BuildOptions.Duplicates %d; want ErrorOnDuplicates, SumDuplicates or LastDuplicate", opt.Duplicates)
	}
	threads := parallel.Threads(opt.Threads)
	scan, err := scanCOO(c, threads)
	if err != nil {
		return nil, err
	}
	m := &CSR[T]{
		Pattern: Pattern{Rows: c.Rows, Cols: c.Cols, RowPtr: make([]int64, c.Rows+1), ColIdx: make([]int32, len(c.Val))},
		Val:     make([]T, len(c.Val)),
	}
	if scan.sorted {
		copyRows(m, c, threads)
	} else {
		placeRows(m, c, scan, threads)
	}
	if err := finishRows(m, c, opt.Duplicates, threads); err != nil {
		return nil, err
	}
	return m, nil
}

// blockLen is the number of triplets whose smallest and largest row are kept together.
const blockLen = 1 << 16

// cooScan is what one look at all triplets tells.
type cooScan struct {
	sorted  bool // rows never decrease
	entries int
	blocks  []rowBounds
}

type rowBounds struct {
	lo, hi int32 // rows of the block's triplets, both ends included
	sorted bool  // and no smaller than the row before the block
	bad    int64 // first triplet out of range, or -1
}

// scanCOO validates triplets and notes how their rows lie.
func scanCOO[T Float](c *COO[T], threads int) (cooScan, error) {
	if c.Rows < 0 || c.Rows > maxDim || c.Cols < 0 || c.Cols > maxDim {
		return cooScan{}, fmt.Errorf("sparse: triplets of a %d×%d matrix; want 0 to %d rows and columns", c.Rows, c.Cols, maxDim)
	}
	if len(c.Row) != len(c.Val) || len(c.Col) != len(c.Val) {
		return cooScan{}, fmt.Errorf("sparse: triplets with %d rows, %d columns and %d values; want the same number of each", len(c.Row), len(c.Col), len(c.Val))
	}
	s := cooScan{sorted: true, entries: len(c.Val), blocks: make([]rowBounds, (len(c.Val)+blockLen-1)/blockLen)}
	_ = parallel.Units(context.Background(), threads, len(s.blocks), func(u int) {
		s.blocks[u] = scanBlock(c, u*blockLen, min((u+1)*blockLen, len(c.Val)))
	})
	for _, b := range s.blocks {
		if b.bad >= 0 {
			return s, fmt.Errorf("sparse: entry %d is at (%d, %d), outside a %d×%d matrix; want 0-based rows and columns",
				b.bad, c.Row[b.bad], c.Col[b.bad], c.Rows, c.Cols)
		}
		s.sorted = s.sorted && b.sorted
	}
	return s, nil
}

func scanBlock[T Float](c *COO[T], from, to int) rowBounds {
	b := rowBounds{lo: c.Row[from], hi: c.Row[from], sorted: true, bad: -1}
	last := c.Row[max(from-1, 0)]
	rows, cols := uint32(c.Rows), uint32(c.Cols)
	for p := from; p < to; p++ {
		r := c.Row[p]
		// A negative index is a large one as uint32.
		if uint32(r) >= rows || uint32(c.Col[p]) >= cols {
			b.bad = int64(p)
			return b
		}
		b.lo, b.hi = min(b.lo, r), max(b.hi, r)
		b.sorted = b.sorted && r >= last
		last = r
	}
	return b
}

// copyRows fills m from triplets whose rows never decrease: only the row pointers need work.
func copyRows[T Float](m *CSR[T], c *COO[T], threads int) {
	parallel.Ranges(threads, int64(len(c.Val)), func(_ int, lo, hi int64) {
		copy(m.ColIdx[lo:hi], c.Col[lo:hi])
		copy(m.Val[lo:hi], c.Val[lo:hi])
		for p := lo; p < hi; p++ {
			// Entry p starts its row and ends every row since the one before it.
			before := int32(-1)
			if p > 0 {
				before = c.Row[p-1]
			}
			for r := before + 1; r <= c.Row[p]; r++ {
				m.RowPtr[r] = p
			}
		}
	})
	last := -1
	if n := len(c.Row); n > 0 {
		last = int(c.Row[n-1])
	}
	for r := last + 1; r <= c.Rows; r++ {
		m.RowPtr[r] = int64(len(c.Val))
	}
}

// placeRows fills m from triplets in any order; entries of a row keep the order of the triplets.
//
// Every worker looks at the rows of all triplets and handles those of its own range of rows. So
// the order is the same for any number of workers, no two write the same place, and there is no
// memory beside the result: RowPtr is first the counts and then the place of each row's next entry.
func placeRows[T Float](m *CSR[T], c *COO[T], scan cooScan, threads int) {
	next := m.RowPtr[1:]
	parallel.Ranges(threads, int64(c.Rows), func(_ int, lo, hi int64) {
		count := next[lo:hi]
		scan.each(lo, hi, func(from, to int) {
			for _, r := range c.Row[from:to] {
				if k := int64(r) - lo; uint64(k) < uint64(len(count)) {
					count[k]++
				}
			}
		})
	})
	total := int64(0)
	for r, n := range next {
		next[r] = total
		total += n
	}
	// next[r] is now where row r starts. It serves as the row pointers of all rows but the last,
	// which joins the last range.
	cuts := cutByNNZ(next, threads)
	cuts[threads] = c.Rows
	_ = parallel.Units(context.Background(), threads, threads, func(u int) {
		lo, hi := int64(cuts[u]), int64(cuts[u+1])
		place := next[lo:hi]
		scan.each(lo, hi, func(from, to int) {
			cols, vals := c.Col[from:to], c.Val[from:to]
			for p, r := range c.Row[from:to] {
				if k := int64(r) - lo; uint64(k) < uint64(len(place)) {
					q := place[k]
					place[k] = q + 1
					m.ColIdx[q], m.Val[q] = cols[p], vals[p]
				}
			}
		})
	})
}

// each calls body for the blocks of triplets that may hold rows in [lo, hi), in order.
func (s cooScan) each(lo, hi int64, body func(from, to int)) {
	for u, b := range s.blocks {
		if int64(b.lo) < hi && int64(b.hi) >= lo {
			body(u*blockLen, min((u+1)*blockLen, s.entries))
		}
	}
}

// finishRows sorts every row and merges, or reports, its duplicates.
func finishRows[T Float](m *CSR[T], c *COO[T], dup Duplicates, threads int) error {
	cuts := cutByNNZ(m.RowPtr, workUnits(threads, m.NNZ()))
	units := len(cuts) - 1
	start, end := make([]int64, units), make([]int64, units)
	repeated := make([]*DuplicateError, units)
	for u := range units {
		start[u] = m.RowPtr[cuts[u]]
	}
	sorters := newSorters[T](threads, min(longestRow(m.RowPtr), scratchEntries[T](int64(c.Rows), m.NNZ(), threads)))
	_ = parallel.Units(context.Background(), threads, units, func(u int) {
		s := <-sorters
		defer func() { sorters <- s }()
		// Rows are merged towards the start of the unit: read and write are the old and the new
		// end of what has been done.
		read, write := start[u], start[u]
		for i := cuts[u]; i < cuts[u+1]; i++ {
			lo, hi := read, m.RowPtr[i+1]
			cols, vals := m.ColIdx[lo:hi], m.Val[lo:hi]
			s.sort(cols, vals)
			n := len(cols)
			if at := firstRepeat(cols); at >= 0 {
				if dup == ErrorOnDuplicates {
					repeated[u] = &DuplicateError{Row: i, Col: int(cols[at])}
					return
				}
				n = merge(cols, vals, dup)
			}
			if write != lo {
				copy(m.ColIdx[write:], cols[:n])
				copy(m.Val[write:], vals[:n])
			}
			read, write = hi, write+int64(n)
			if dup != ErrorOnDuplicates {
				m.RowPtr[i+1] = write
			}
		}
		end[u] = write
	})
	for _, e := range repeated {
		if e != nil {
			e.locate(c.Row, c.Col)
			return e
		}
	}
	closeGaps(m, cuts, start, end)
	return nil
}

// scratchEntries is the number of entries each thread may sort out of place, so that all of them
// together stay within half of what the bound of FromCOO leaves.
func scratchEntries[T Float](rows, nnz int64, threads int) int {
	var v T
	value := int64(unsafe.Sizeof(v))
	csr := nnz*(4+value) + 8*(rows+1)
	coo := nnz * (8 + value)
	left := csr*3/2 - coo
	return int(min(max(left/2/int64(threads)/(8+value), 1024), 1<<20))
}

func longestRow(ptr []int64) int {
	longest := int64(0)
	for i := range len(ptr) - 1 {
		longest = max(longest, ptr[i+1]-ptr[i])
	}
	return int(longest)
}

func firstRepeat(cols []int32) int {
	for k := 1; k < len(cols); k++ {
		if cols[k] == cols[k-1] {
			return k
		}
	}
	return -1
}

// merge merges neighbours of the same column and returns how many entries remain.
func merge[T Float](cols []int32, vals []T, dup Duplicates) int {
	n := 0
	for k := 1; k < len(cols); k++ {
		switch {
		case cols[k] != cols[n]:
			n++
			cols[n], vals[n] = cols[k], vals[k]
		case dup == SumDuplicates:
			vals[n] += vals[k]
		default:
			vals[n] = vals[k]
		}
	}
	return n + 1
}

// closeGaps moves units that have become shorter together.
func closeGaps[T Float](m *CSR[T], cuts []int, start, end []int64) {
	to := int64(0)
	for u := range start {
		if gap := start[u] - to; gap > 0 {
			copy(m.ColIdx[to:], m.ColIdx[start[u]:end[u]])
			copy(m.Val[to:], m.Val[start[u]:end[u]])
			for i := cuts[u]; i < cuts[u+1]; i++ {
				m.RowPtr[i+1] -= gap
			}
		}
		to += end[u] - start[u]
	}
	m.ColIdx, m.Val = m.ColIdx[:to], m.Val[:to]
}

// locate finds the first two triplets at the error's position.
func (e *DuplicateError) locate(row, col []int32) {
	e.First, e.Second = -1, -1
	for p, r := range row {
		if int(r) != e.Row || int(col[p]) != e.Col {
			continue
		}
		if e.First >= 0 {
			e.Second = int64(p)
			return
		}
		e.First = int64(p)
	}
}
