package sparse

import "sddmmkit/internal/shape"

// Float is the element type of host matrices.
type Float interface{ float32 | float64 }

// COO is a matrix as triplets: entry p is Val[p] at (Row[p], Col[p]). The order is free.
// The three slices have the same length, the number of stored entries. A COO may hold
// duplicates; turning it into a CSR says what becomes of them.
type COO[T Float] struct {
	Rows, Cols int
	Row, Col   []int32
	Val        []T
}

// NNZ returns the number of stored entries.
func (c *COO[T]) NNZ() int64 { return int64(len(c.Val)) }

// Pattern is the structure of a sparse matrix, without values, in compressed rows: the column
// indices of row i are ColIdx[RowPtr[i]:RowPtr[i+1]]. Columns need not be sorted within a row,
// but must not repeat. A Pattern that has been validated is read only from then on: values,
// transposes and device copies refer to its order of non-zeros.
type Pattern struct {
	Rows, Cols int
	RowPtr     []int64 // length Rows+1, RowPtr[0] = 0, not decreasing
	ColIdx     []int32 // length RowPtr[Rows], each in [0, Cols)
}

// NNZ returns the number of non-zeros.
func (p *Pattern) NNZ() int64 {
	if len(p.RowPtr) == 0 {
		return 0
	}
	return p.RowPtr[len(p.RowPtr)-1]
}

// Row returns the column indices of row i. The slice is the pattern's own.
func (p *Pattern) Row(i int) []int32 { return p.ColIdx[p.RowPtr[i]:p.RowPtr[i+1]] }

// CSR is a sparse matrix in compressed rows: a Pattern, and one value per non-zero in the
// pattern's order. Several CSR may share one pattern.
type CSR[T Float] struct {
	Pattern
	Val []T // length NNZ()
}

// CSC is a sparse matrix in compressed columns: the row indices of column j are
// RowIdx[ColPtr[j]:ColPtr[j+1]].
type CSC[T Float] struct {
	Rows, Cols int
	ColPtr     []int64 // length Cols+1
	RowIdx     []int32
	Val        []T
}

// NNZ returns the number of non-zeros.
func (c *CSC[T]) NNZ() int64 { return int64(len(c.Val)) }

// ShapeError says which operands of an operation do not fit each other, and what was expected.
type ShapeError = shape.Error
