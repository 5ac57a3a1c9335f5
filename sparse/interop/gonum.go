package interop

import (
	"fmt"
	"math"
	"slices"

	bowman "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"sddmmkit/sparse"
)

// FromMatrix converts any matrix to compressed rows with sorted columns. It copies.
//
// What the matrix is decides how: james-bowman's formats are validated and converted as they
// stand; a matrix that can name its non-zeros (mat.NonZeroDoer) is asked for them, each stored
// zero included, and its duplicates follow opt; every other matrix is read element by element and
// its zeros are left out, NaN is not a zero. A mat.Transpose is the transpose of what it wraps.
func FromMatrix[T sparse.Float](m mat.Matrix, opt sparse.BuildOptions) (*sparse.CSR[T], error) {
	if own, ok := m.(interface{ Validate() error }); ok { // a CSR or CSC of package sparse
		if err := own.Validate(); err != nil {
			return nil, fmt.Errorf("interop.FromMatrix: %w", err)
		}
	}
	switch m := m.(type) {
	case *bowman.CSR:
		out, err := FromCSR[T](m)
		if err != nil {
			return nil, err
		}
		out.Val = slices.Clone(out.Val)
		out.SortRows(opt.Threads)
		return out, nil
	case *bowman.CSC:
		out, err := FromCSC[T](m)
		if err != nil {
			return nil, err
		}
		return out.ToCSR(opt.Threads), nil
	case *bowman.COO:
		c, err := FromCOO[T](m)
		if err != nil {
			return nil, err
		}
		return sparse.FromCOO(c, opt)
	case mat.Untransposer:
		t, err := FromMatrix[T](m.Untranspose(), opt)
		if err != nil {
			return nil, fmt.Errorf("the matrix that a transpose wraps: %w", err)
		}
		return t.Transpose(opt.Threads), nil
	case interface {
		mat.Matrix
		mat.NonZeroDoer
	}:
		c, err := triplets[T](m, m)
		if err != nil {
			return nil, fmt.Errorf("interop.FromMatrix: %w", err)
		}
		return sparse.FromCOO(c, opt)
	}
	out, err := scan[T](m)
	if err != nil {
		return nil, fmt.Errorf("interop.FromMatrix: %w", err)
	}
	return out, nil
}

// ToDense copies into a new dense matrix of Rows·Cols elements. gonum has no matrix with rows but
// no columns or the reverse: those are an error, and 0×0 is the empty mat.Dense.
func ToDense[T sparse.Float](m *sparse.CSR[T]) (*mat.Dense, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("interop.ToDense: %w", err)
	}
	if m.Rows == 0 && m.Cols == 0 {
		return &mat.Dense{}, nil
	}
	if m.Rows == 0 || m.Cols == 0 || m.Rows > math.MaxInt/8/m.Cols {
		return nil, fmt.Errorf("interop.ToDense: mat.Dense cannot hold a %d×%d matrix", m.Rows, m.Cols)
	}
	out := mat.NewDense(m.Rows, m.Cols, nil)
	m.DoNonZero(out.Set)
	return out, nil
}

// triplets collects what d stores. A position outside the matrix is an error.
func triplets[T sparse.Float](m mat.Matrix, d mat.NonZeroDoer) (*sparse.COO[T], error) {
	c := &sparse.COO[T]{}
	c.Rows, c.Cols = m.Dims()
	if err := checkDims(c.Rows, c.Cols); err != nil {
		return nil, err
	}
	var bad error
	d.DoNonZero(func(i, j int, v float64) {
		if bad != nil {
			return
		}
		if i < 0 || i >= c.Rows || j < 0 || j >= c.Cols {
			bad = fmt.Errorf("entry %d is at (%d, %d), outside a %d×%d matrix", len(c.Val), i, j, c.Rows, c.Cols)
			return
		}
		x, err := narrow[T](v)
		if err != nil {
			bad = fmt.Errorf("element (%d, %d): %w", i, j, err)
			return
		}
		c.Row, c.Col, c.Val = append(c.Row, int32(i)), append(c.Col, int32(j)), append(c.Val, x)
	})
	if bad != nil {
		return nil, bad
	}
	return c, nil
}

// scan reads every element of m.
func scan[T sparse.Float](m mat.Matrix) (*sparse.CSR[T], error) {
	rows, cols := m.Dims()
	if err := checkDims(rows, cols); err != nil {
		return nil, err
	}
	out := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for i := range rows {
		for j := range cols {
			v := m.At(i, j)
			if v == 0 {
				continue
			}
			x, err := narrow[T](v)
			if err != nil {
				return nil, fmt.Errorf("element (%d, %d): %w", i, j, err)
			}
			out.ColIdx, out.Val = append(out.ColIdx, int32(j)), append(out.Val, x)
		}
		out.RowPtr[i+1] = int64(len(out.Val))
	}
	return out, nil
}

func checkDims(rows, cols int) error {
	if rows < 0 || rows > math.MaxInt32 || cols < 0 || cols > math.MaxInt32 {
		return fmt.Errorf("a %d×%d matrix; want 0 to %d rows and columns", rows, cols, math.MaxInt32)
	}
	return nil
}
