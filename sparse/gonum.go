package sparse

import "gonum.org/v1/gonum/mat"

var (
	_ mat.Matrix         = (*CSR[float64])(nil)
	_ mat.NonZeroDoer    = (*CSR[float64])(nil)
	_ mat.RowNonZeroDoer = (*CSR[float64])(nil)
	_ mat.Matrix         = (*CSR[float32])(nil)
	_ mat.NonZeroDoer    = (*CSR[float32])(nil)

	_ mat.Matrix         = (*CSC[float64])(nil)
	_ mat.NonZeroDoer    = (*CSC[float64])(nil)
	_ mat.ColNonZeroDoer = (*CSC[float64])(nil)
	_ mat.Matrix         = (*CSC[float32])(nil)
	_ mat.NonZeroDoer    = (*CSC[float32])(nil)
)

// Dims returns the number of rows and columns.
func (m *CSR[T]) Dims() (r, c int) { return m.Rows, m.Cols }

// At returns element (i, j), 0 where nothing is stored. It looks through row i. It panics with
// mat.ErrRowAccess or mat.ErrColAccess when the indices are out of range.
func (m *CSR[T]) At(i, j int) float64 {
	checkAccess(i, j, m.Rows, m.Cols)
	for q := m.RowPtr[i]; q < m.RowPtr[i+1]; q++ {
		if m.ColIdx[q] == int32(j) {
			return float64(m.Val[q])
		}
	}
	return 0
}

// T returns the transpose: a *CSC[T] that shares all slices with m.
func (m *CSR[T]) T() mat.Matrix { return m.transposeView() }

// DoNonZero calls fn for every stored element in row order, also for stored zeros.
func (m *CSR[T]) DoNonZero(fn func(i, j int, v float64)) {
	for i := range m.Rows {
		m.DoRowNonZero(i, fn)
	}
}

// DoRowNonZero calls fn for every stored element of row i. It panics with mat.ErrRowAccess when i
// is out of range.
func (m *CSR[T]) DoRowNonZero(i int, fn func(i, j int, v float64)) {
	if uint(i) >= uint(m.Rows) {
		panic(mat.ErrRowAccess)
	}
	for q := m.RowPtr[i]; q < m.RowPtr[i+1]; q++ {
		fn(i, int(m.ColIdx[q]), float64(m.Val[q]))
	}
}

// Dims returns the number of rows and columns.
func (c *CSC[T]) Dims() (rows, cols int) { return c.Rows, c.Cols }

// At returns element (i, j), 0 where nothing is stored. It looks through column j. It panics with
// mat.ErrRowAccess or mat.ErrColAccess when the indices are out of range.
func (c *CSC[T]) At(i, j int) float64 {
	checkAccess(i, j, c.Rows, c.Cols)
	for q := c.ColPtr[j]; q < c.ColPtr[j+1]; q++ {
		if c.RowIdx[q] == int32(i) {
			return float64(c.Val[q])
		}
	}
	return 0
}

// T returns the transpose: a *CSR[T] that shares all slices with c.
func (c *CSC[T]) T() mat.Matrix { return c.transposeView() }

// DoNonZero calls fn for every stored element in column order, also for stored zeros.
func (c *CSC[T]) DoNonZero(fn func(i, j int, v float64)) {
	for j := range c.Cols {
		c.DoColNonZero(j, fn)
	}
}

// DoColNonZero calls fn for every stored element of column j. It panics with mat.ErrColAccess
// when j is out of range.
func (c *CSC[T]) DoColNonZero(j int, fn func(i, j int, v float64)) {
	if uint(j) >= uint(c.Cols) {
		panic(mat.ErrColAccess)
	}
	for q := c.ColPtr[j]; q < c.ColPtr[j+1]; q++ {
		fn(int(c.RowIdx[q]), j, float64(c.Val[q]))
	}
}

func checkAccess(i, j, rows, cols int) {
	if uint(i) >= uint(rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(cols) {
		panic(mat.ErrColAccess)
	}
}
