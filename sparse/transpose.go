package sparse

import (
	"sort"

	"sddmmkit/internal/parallel"
)

// Transpose returns the pattern of the transpose, and where its non-zeros stand in p: non-zero q
// of the transpose is non-zero perm[q] of p. So the values of the transposed matrix are
// val[perm[q]], whatever values p is given, and need not be kept in step.
//
// The rows of the transpose are sorted, also when those of p are not. p must be valid; time and
// memory are proportional to NNZ + Rows + Cols.
func (p *Pattern) Transpose(threads int) (t *Pattern, perm []int64) {
	perm = make([]int64, p.NNZ())
	t = &Pattern{}
	*t = transpose[float32](p, threads, nil, nil, perm)
	return t, perm
}

// Transpose returns the transpose with its own pattern and values. Its rows are sorted.
func (m *CSR[T]) Transpose(threads int) *CSR[T] {
	t := &CSR[T]{Val: make([]T, m.NNZ())}
	t.Pattern = transpose(&m.Pattern, threads, m.Val, t.Val, nil)
	return t
}

// ToCSC returns the matrix in compressed columns, sharing nothing. Its columns are sorted.
func (m *CSR[T]) ToCSC(threads int) *CSC[T] { return m.Transpose(threads).transposeView() }

// ToCSR returns the matrix in compressed rows, sharing nothing. Its rows are sorted.
func (c *CSC[T]) ToCSR(threads int) *CSR[T] { return c.transposeView().Transpose(threads) }

// ToCOO returns the non-zeros as triplets in row order. Col and Val are the matrix's own slices.
func (m *CSR[T]) ToCOO() *COO[T] {
	row := make([]int32, m.NNZ())
	for i := range m.Rows {
		for q := m.RowPtr[i]; q < m.RowPtr[i+1]; q++ {
			row[q] = int32(i)
		}
	}
	return &COO[T]{Rows: m.Rows, Cols: m.Cols, Row: row, Col: m.ColIdx, Val: m.Val}
}

// transposeView returns the transpose: the rows of m are its columns. It shares all slices.
func (m *CSR[T]) transposeView() *CSC[T] {
	return &CSC[T]{Rows: m.Cols, Cols: m.Rows, ColPtr: m.RowPtr, RowIdx: m.ColIdx, Val: m.Val}
}

// transposeView returns the transpose: the columns of c are its rows. It shares all slices.
func (c *CSC[T]) transposeView() *CSR[T] {
	return &CSR[T]{Pattern: Pattern{Rows: c.Cols, Cols: c.Rows, RowPtr: c.ColPtr, ColIdx: c.RowIdx}, Val: c.Val}
}

// transpose returns the transposed pattern. Where they are not nil it fills out with val in the
// transposed order, and perm with that order.
//
// The non-zeros are cut into chunks. Each chunk counts its columns; a running sum over chunks
// within each column, and then over columns, gives each chunk its own places, so that the
// non-zeros of a column keep their order whatever the number of chunks.
func transpose[T Float](p *Pattern, threads int, val, out []T, perm []int64) Pattern {
	nnz := p.NNZ()
	t := Pattern{Rows: p.Cols, Cols: p.Rows, RowPtr: make([]int64, p.Cols+1), ColIdx: make([]int32, nnz)}
	// No more chunks than keep their counts within the size of the result.
	chunks := int(max(1, min(int64(parallel.Threads(threads)), nnz>>12, nnz/int64(max(p.Cols, 1)))))
	place := make([][]int64, chunks)
	parallel.Ranges(chunks, nnz, func(c int, lo, hi int64) {
		count := make([]int64, p.Cols)
		for _, j := range p.ColIdx[lo:hi] {
			count[j]++
		}
		place[c] = count
	})
	if nnz == 0 {
		return t
	}
	parallel.Ranges(threads, int64(p.Cols), func(_ int, lo, hi int64) {
		for j := lo; j < hi; j++ {
			sum := int64(0)
			for _, count := range place {
				count[j], sum = sum, sum+count[j]
			}
			t.RowPtr[j+1] = sum
		}
	})
	for j := range p.Cols {
		t.RowPtr[j+1] += t.RowPtr[j]
	}
	parallel.Ranges(threads, int64(p.Cols), func(_ int, lo, hi int64) {
		for _, first := range place {
			for j := lo; j < hi; j++ {
				first[j] += t.RowPtr[j]
			}
		}
	})
	parallel.Ranges(chunks, nnz, func(c int, lo, hi int64) {
		next := place[c]
		// The row of non-zero lo is the last that starts at or before it.
		i := sort.Search(p.Rows, func(r int) bool { return p.RowPtr[r+1] > lo })
		for q := lo; q < hi; i++ {
			for end := min(p.RowPtr[i+1], hi); q < end; q++ {
				j := p.ColIdx[q]
				at := next[j]
				next[j] = at + 1
				t.ColIdx[at] = int32(i)
				if out != nil {
					out[at] = val[q]
				}
				if perm != nil {
					perm[at] = q
				}
			}
		}
	})
	return t
}
