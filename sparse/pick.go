package sparse

import (
	"fmt"

	"sddmmkit/internal/parallel"
)

// PickRows returns the matrix of the given rows in the given order; a row may be given several
// times. It shares nothing with m.
func (m *CSR[T]) PickRows(rows []int) (*CSR[T], error) {
	if len(rows) > maxDim {
		return nil, fmt.Errorf("sparse: CSR.PickRows: %d rows; want at most %d", len(rows), maxDim)
	}
	out := &CSR[T]{Pattern: Pattern{Rows: len(rows), Cols: m.Cols, RowPtr: make([]int64, len(rows)+1)}}
	for k, i := range rows {
		if i < 0 || i >= m.Rows {
			return nil, fmt.Errorf("sparse: CSR.PickRows: row %d (item %d of the list) of a %d×%d matrix; want 0 to %d", i, k, m.Rows, m.Cols, m.Rows-1)
		}
		out.RowPtr[k+1] = out.RowPtr[k] + m.RowPtr[i+1] - m.RowPtr[i]
	}
	nnz := out.NNZ()
	out.ColIdx, out.Val = make([]int32, nnz), make([]T, nnz)
	parallel.Ranges(0, int64(len(rows)), func(_ int, lo, hi int64) {
		for k := lo; k < hi; k++ {
			from, to := m.RowPtr[rows[k]], m.RowPtr[rows[k]+1]
			copy(out.ColIdx[out.RowPtr[k]:], m.ColIdx[from:to])
			copy(out.Val[out.RowPtr[k]:], m.Val[from:to])
		}
	})
	return out, nil
}

// PickCols returns the matrix of the given columns in the given order: column cols[k] of m is
// column k of the result. A column may be given once only. The rows of the result are sorted. It
// shares nothing with m.
func (m *CSR[T]) PickCols(cols []int) (*CSR[T], error) {
	place := make([]int32, m.Cols) // 1 + the column's place in cols, or 0
	for k, j := range cols {
		if j < 0 || j >= m.Cols {
			return nil, fmt.Errorf("sparse: CSR.PickCols: column %d (item %d of the list) of a %d×%d matrix; want 0 to %d", j, k, m.Rows, m.Cols, m.Cols-1)
		}
		if place[j] != 0 {
			return nil, fmt.Errorf("sparse: CSR.PickCols: column %d is given twice, as items %d and %d of the list; want each column once", j, place[j]-1, k)
		}
		place[j] = int32(k + 1)
	}
	out := &CSR[T]{Pattern: Pattern{Rows: m.Rows, Cols: len(cols), RowPtr: make([]int64, m.Rows+1)}}
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			for _, j := range m.Row(int(i)) {
				if place[j] != 0 {
					out.RowPtr[i+1]++
				}
			}
		}
	})
	for i := range m.Rows {
		out.RowPtr[i+1] += out.RowPtr[i]
	}
	nnz := out.NNZ()
	out.ColIdx, out.Val = make([]int32, nnz), make([]T, nnz)
	parallel.Ranges(0, int64(m.Rows), func(_ int, lo, hi int64) {
		to := out.RowPtr[lo]
		for q := m.RowPtr[lo]; q < m.RowPtr[hi]; q++ {
			if k := place[m.ColIdx[q]]; k != 0 {
				out.ColIdx[to], out.Val[to] = k-1, m.Val[q]
				to++
			}
		}
	})
	out.SortRows(0)
	return out, nil
}
