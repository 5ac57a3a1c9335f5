package factors

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/dense"
	"sddmmkit/internal/parallel"
)

// Cosine finds rows of a factor matrix that point the same way: cos(a, b) = ⟨a, b⟩ / (‖a‖·‖b‖). It
// keeps the norms, and a view of the matrix, which must not change.
type Cosine[T dense.Float] struct {
	rows  dense.Matrix[T]
	names []string
	norm  []float64
}

// NewCosine prepares the rows of a matrix for Similar. Names are those of the rows, nil for none.
func NewCosine[T dense.Float](rows dense.Matrix[T], names []string) (*Cosine[T], error) {
	if err := rows.Validate(); err != nil {
		return nil, err
	}
	if names != nil && len(names) != rows.Rows {
		return nil, fmt.Errorf("factors: %d names for %d rows; want as many, or none", len(names), rows.Rows)
	}
	c := &Cosine[T]{rows: rows, names: names, norm: make([]float64, rows.Rows)}
	for r := range c.norm {
		c.norm[r] = math.Sqrt(dot(rows.Row(r), rows.Row(r)))
	}
	return c, nil
}

// Similar returns the n rows with the highest cosine to the given row, highest first, and the lower
// index first among equals. The row itself is never returned, nor are rows of norm zero, which
// point nowhere; the list is shorter than n, or empty, when fewer are left. Filter, when not nil,
// is asked for every row, and rows it refuses are not returned.
func (c *Cosine[T]) Similar(ctx context.Context, row, n int, filter func(row int) bool) ([]Scored, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	if row < 0 || row >= c.rows.Rows {
		return nil, fmt.Errorf("factors: there is no row %d: there are %d, counted from 0", row, c.rows.Rows)
	}
	x := make([]float64, c.rows.Cols)
	toFloat64(x, c.rows.Row(row))
	b := best{n: min(n, c.rows.Rows)}
	const perCheck = 1 << 12 // rows between two looks at ctx
	err := parallel.Units(ctx, 1, (c.rows.Rows+perCheck-1)/perCheck, func(unit int) {
		lo := unit * perCheck
		for r := lo; r < min(lo+perCheck, c.rows.Rows); r++ {
			if r == row || c.norm[r] == 0 || filter != nil && !filter(r) {
				continue
			}
			// When the given row has norm zero this is NaN, which is not admitted.
			cos := dot(c.rows.Row(r), x) / c.norm[row] / c.norm[r]
			if cos > 1 {
				cos = 1 // rounding
			} else if cos < -1 {
				cos = -1
			}
			if k := (candidate{item: int32(r), score: cos}); b.admits(k) {
				b.offer(k)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return b.list(c.names), nil
}

// SimilarItems returns the n items most like item i, by the cosine of their factors: NewCosine
// and Similar in one call. For many items make the Cosine once.
func (m *Model[T]) SimilarItems(ctx context.Context, i, n int) ([]Scored, error) {
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	if err := m.checkItem(i); err != nil {
		return nil, err
	}
	c, err := NewCosine(m.Items, m.ItemNames)
	if err != nil {
		return nil, err
	}
	return c.Similar(ctx, i, n, nil)
}

// SimilarUsers is SimilarItems for users; Scored.Item holds the index of a user.
func (m *Model[T]) SimilarUsers(ctx context.Context, u, n int) ([]Scored, error) {
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	if err := m.checkUser(u); err != nil {
		return nil, err
	}
	c, err := NewCosine(m.Users, m.UserNames)
	if err != nil {
		return nil, err
	}
	return c.Similar(ctx, u, n, nil)
}
