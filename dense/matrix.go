package dense

import (
	"fmt"

	"sddmmkit/device"
)

// Float are the element types that operations compute with.
type Float interface{ float32 | float64 }

// Matrix is a dense row-major matrix on the host: element (i, j) is Data[i*Stride+j].
// It has the layout of gonum's blas32.General and blas64.General. A Matrix is a view: copying
// the struct shares the elements.
type Matrix[T device.Real] struct {
	Rows, Cols int
	Stride     int // elements from one row to the next, at least Cols
	Data       []T // at least (Rows-1)*Stride+Cols elements
}

// New returns a zero matrix with Stride = cols.
func New[T device.Real](rows, cols int) Matrix[T] {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("dense.New: negative size %d×%d", rows, cols))
	}
	return Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: make([]T, rows*cols)}
}

// Row returns row i; the slice is the matrix's own and has Cols elements.
func (m Matrix[T]) Row(i int) []T {
	if m.Cols == 0 {
		return nil // a matrix without columns may come without data
	}
	o := i * m.Stride
	return m.Data[o : o+m.Cols : o+m.Cols]
}

// At returns element (i, j).
func (m Matrix[T]) At(i, j int) T { return m.Row(i)[j] }

// Set sets element (i, j).
func (m Matrix[T]) Set(i, j int, v T) { m.Row(i)[j] = v }

// View returns the first cols columns of rows [r0, r1), sharing the elements.
func (m Matrix[T]) View(r0, r1, cols int) Matrix[T] {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || cols < 0 || cols > m.Cols {
		panic(fmt.Sprintf("dense.Matrix.View: rows [%d,%d), %d columns of a %d×%d matrix", r0, r1, cols, m.Rows, m.Cols))
	}
	v := Matrix[T]{Rows: r1 - r0, Cols: cols, Stride: m.Stride}
	if r1 > r0 && cols > 0 {
		v.Data = m.Data[r0*m.Stride : (r1-1)*m.Stride+cols]
	}
	return v
}

// Columns returns columns [lo, hi) of all rows, sharing the elements.
func (m Matrix[T]) Columns(lo, hi int) Matrix[T] {
	if lo < 0 || hi < lo || hi > m.Cols {
		panic(fmt.Sprintf("dense.Matrix.Columns: columns [%d,%d) of a %d×%d matrix", lo, hi, m.Rows, m.Cols))
	}
	v := Matrix[T]{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride}
	if m.Rows > 0 && hi > lo {
		v.Data = m.Data[lo:]
	}
	return v
}

// Clone returns a copy with Stride = Cols.
func (m Matrix[T]) Clone() Matrix[T] {
	c := New[T](m.Rows, m.Cols)
	for i := range m.Rows {
		copy(c.Row(i), m.Row(i))
	}
	return c
}

// Validate reports a matrix whose sizes and data do not fit.
func (m Matrix[T]) Validate() error {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols {
		return fmt.Errorf("dense: matrix %d×%d with stride %d; want sizes ≥ 0 and stride ≥ columns", m.Rows, m.Cols, m.Stride)
	}
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	// (Rows-1)*Stride may not fit an int.
	if len(m.Data) < m.Cols || m.Rows-1 > (len(m.Data)-m.Cols)/m.Stride {
		return fmt.Errorf("dense: matrix %d×%d with stride %d and %d elements; want at least (%d-1)*%d+%d elements",
			m.Rows, m.Cols, m.Stride, len(m.Data), m.Rows, m.Stride, m.Cols)
	}
	return nil
}
