package interop

import (
	"fmt"
	"math"

	bowman "github.com/james-bowman/sparse"
	"github.com/james-bowman/sparse/blas"

	"sddmmkit/sparse"
)

// FromCSR converts james-bowman's compressed rows. Columns may be unsorted and stay so; a column
// that repeats within its row is a *sparse.DuplicateError. The values are shared for float64.
func FromCSR[T sparse.Float](m *bowman.CSR) (*sparse.CSR[T], error) {
	p, val, err := fromCompressed[T](m.RawMatrix())
	if err != nil {
		return nil, fmt.Errorf("interop.FromCSR: %w", err)
	}
	out := &sparse.CSR[T]{Pattern: p, Val: val}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("interop.FromCSR: %w", err)
	}
	return out, nil
}

// FromCSC converts james-bowman's compressed columns as [FromCSR] does its rows.
func FromCSC[T sparse.Float](m *bowman.CSC) (*sparse.CSC[T], error) {
	p, val, err := fromCompressed[T](m.RawMatrix())
	if err != nil {
		return nil, fmt.Errorf("interop.FromCSC: %w", err)
	}
	out := &sparse.CSC[T]{Rows: p.Cols, Cols: p.Rows, ColPtr: p.RowPtr, RowIdx: p.ColIdx, Val: val}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("interop.FromCSC: %w", err)
	}
	return out, nil
}

// fromCompressed copies the indices of raw, whose I counts rows for CSR and columns for CSC. It
// checks only what would be lost by copying: the caller validates the result.
func fromCompressed[T sparse.Float](raw *blas.SparseMatrix) (sparse.Pattern, []T, error) {
	p := sparse.Pattern{Rows: raw.I, Cols: raw.J, RowPtr: make([]int64, len(raw.Indptr)), ColIdx: make([]int32, len(raw.Ind))}
	for i, q := range raw.Indptr {
		p.RowPtr[i] = int64(q)
	}
	for q, j := range raw.Ind {
		if j < 0 || j > math.MaxInt32 {
			return p, nil, fmt.Errorf("index %d (Ind[%d]) is out of range; want 0 to %d", j, q, raw.J-1)
		}
		p.ColIdx[q] = int32(j)
	}
	if raw.I == 0 && len(raw.Indptr) == 0 {
		p.RowPtr = []int64{0} // the zero value, and what Reset leaves
	}
	val, err := fromFloat64[T](raw.Data)
	return p, val, err
}

// FromCOO copies james-bowman's triplets, in order. Duplicates stay: its own meaning is their
// sum, sparse.SumDuplicates to sparse.FromCOO.
func FromCOO[T sparse.Float](m *bowman.COO) (c *sparse.COO[T], err error) {
	// Its slices can be reached only through DoNonZero, which indexes rows and columns by the
	// number of values without having checked that there are as many.
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("interop.FromCOO: a matrix with %d values has fewer rows or columns than values (%v)", m.NNZ(), r)
		}
	}()
	if c, err = triplets[T](m, m); err != nil {
		return nil, fmt.Errorf("interop.FromCOO: %w", err)
	}
	return c, nil
}

// FromDOK converts james-bowman's dictionary of keys. The rows of the result are sorted.
func FromDOK[T sparse.Float](m *bowman.DOK) (*sparse.CSR[T], error) {
	c, err := triplets[T](m, m)
	if err != nil {
		return nil, fmt.Errorf("interop.FromDOK: %w", err)
	}
	return sparse.FromCOO(c, sparse.BuildOptions{})
}

// ToCSR converts to james-bowman's compressed rows. The values are shared for float64. Rows that
// are not sorted stay unsorted, which its accessors and products with dense matrices permit.
func ToCSR[T sparse.Float](m *sparse.CSR[T]) (*bowman.CSR, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("interop.ToCSR: %w", err)
	}
	return bowman.NewCSR(m.Rows, m.Cols, ints(m.RowPtr), ints(m.ColIdx), toFloat64(m.Val)), nil
}

// ToCSC converts to james-bowman's compressed columns as [ToCSR] does to its rows.
func ToCSC[T sparse.Float](m *sparse.CSC[T]) (*bowman.CSC, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("interop.ToCSC: %w", err)
	}
	return bowman.NewCSC(m.Rows, m.Cols, ints(m.ColPtr), ints(m.RowIdx), toFloat64(m.Val)), nil
}

// ToCOO converts to james-bowman's triplets, in order. The values are shared for float64.
// Duplicates stay and mean their sum in At and ToDense; its ToCSR and ToCSC may merge them
// wrongly, so build a sparse.CSR with SumDuplicates and use [ToCSR] instead.
func ToCOO[T sparse.Float](c *sparse.COO[T]) (*bowman.COO, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("interop.ToCOO: %w", err)
	}
	return bowman.NewCOO(c.Rows, c.Cols, ints(c.Row), ints(c.Col), toFloat64(c.Val)), nil
}

// ToDOK converts to james-bowman's dictionary of keys.
func ToDOK[T sparse.Float](m *sparse.CSR[T]) (*bowman.DOK, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("interop.ToDOK: %w", err)
	}
	out := bowman.NewDOK(m.Rows, m.Cols)
	m.DoNonZero(out.Set)
	return out, nil
}

// ints copies indices. Validated ones count elements of a slice, so that they fit an int.
func ints[I int32 | int64](v []I) []int {
	out := make([]int, len(v))
	for q, x := range v {
		out[q] = int(x)
	}
	return out
}
