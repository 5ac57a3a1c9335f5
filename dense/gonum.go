package dense

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// FromBlas32 returns g as a matrix that shares its elements and keeps its stride. The error says
// how sizes, stride and elements do not fit.
func FromBlas32(g blas32.General) (Matrix[float32], error) {
	return checked("dense.FromBlas32", Matrix[float32]{Rows: g.Rows, Cols: g.Cols, Stride: g.Stride, Data: g.Data})
}

// FromBlas64 returns g as a matrix that shares its elements and keeps its stride. The error says
// how sizes, stride and elements do not fit.
func FromBlas64(g blas64.General) (Matrix[float64], error) {
	return checked("dense.FromBlas64", Matrix[float64]{Rows: g.Rows, Cols: g.Cols, Stride: g.Stride, Data: g.Data})
}

// ToBlas32 returns m for BLAS calls: it shares the elements and keeps the stride. m must be valid.
// gonum's BLAS panics on some operands without columns, so callers leave those out.
func ToBlas32(m Matrix[float32]) blas32.General {
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// ToBlas64 returns m for BLAS calls as [ToBlas32] does.
func ToBlas64(m Matrix[float64]) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// FromGonum returns d as a matrix that shares its elements and keeps its stride, so that a
// Slice of a larger mat.Dense works as well. An empty mat.Dense is 0×0.
func FromGonum(d *mat.Dense) (Matrix[float64], error) {
	g := d.RawMatrix()
	return checked("dense.FromGonum", Matrix[float64]{Rows: g.Rows, Cols: g.Cols, Stride: g.Stride, Data: g.Data})
}

// ToGonum returns a mat.Dense that shares the elements of m and keeps its stride. gonum has no
// matrix with rows but no columns or the reverse: those are an error, and 0×0 is the empty
// mat.Dense.
func ToGonum(m Matrix[float64]) (*mat.Dense, error) {
	m, err := checked("dense.ToGonum", m)
	if err != nil {
		return nil, err
	}
	if m.Rows == 0 && m.Cols == 0 {
		return &mat.Dense{}, nil
	}
	if m.Rows == 0 || m.Cols == 0 {
		return nil, fmt.Errorf("dense.ToGonum: mat.Dense cannot be %d×%d; want both sizes positive or both 0", m.Rows, m.Cols)
	}
	n := m.extent()
	d := &mat.Dense{}
	// The capacity ends with the matrix, so that growing d allocates anew.
	d.SetRawMatrix(blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data[:n:n]})
	return d, nil
}

// FromMatrix returns a copy of any gonum matrix, with Stride = Cols. Values pass as they are, NaN
// and Inf included, but a finite value beyond the range of float32 is an error. For a sparse
// matrix sparse/interop.FromMatrix is the better way.
func FromMatrix[T Float](m mat.Matrix) (Matrix[T], error) {
	rows, cols := m.Dims()
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/8/cols {
		return Matrix[T]{}, fmt.Errorf("dense.FromMatrix: a %d×%d matrix; want sizes ≥ 0 whose product fits in memory", rows, cols)
	}
	out := New[T](rows, cols)
	for i := range rows {
		row := out.Row(i)
		for j := range row {
			v := m.At(i, j)
			row[j] = T(v)
			if math.IsInf(float64(row[j]), 0) && !math.IsInf(v, 0) {
				return Matrix[T]{}, fmt.Errorf("dense.FromMatrix: element (%d, %d): %g is beyond the range of float32; use float64", i, j, v)
			}
		}
	}
	return out, nil
}

func checked[T Float](op string, m Matrix[T]) (Matrix[T], error) {
	if err := m.Validate(); err != nil {
		return Matrix[T]{}, fmt.Errorf("%s: %w", op, err)
	}
	return m, nil
}
