package dataset

import (
	"math"
	"testing"

	"sddmmkit/sparse"
)

// checkSet fails the test unless a set is what every reader promises: slices of one length,
// indices inside the shape, finite values, names for every index.
func checkSet[T sparse.Float](t testing.TB, s *Set[T]) {
	t.Helper()
	c := s.COO
	if len(c.Row) != len(c.Val) || len(c.Col) != len(c.Val) {
		t.Fatalf("%d rows, %d columns and %d values", len(c.Row), len(c.Col), len(c.Val))
	}
	if s.Time != nil && len(s.Time) != len(c.Val) {
		t.Fatalf("%d times and %d values", len(s.Time), len(c.Val))
	}
	for p := range c.Val {
		if i, j := c.Row[p], c.Col[p]; i < 0 || int(i) >= c.Rows || j < 0 || int(j) >= c.Cols {
			t.Fatalf("entry %d is at (%d, %d) of %d×%d", p, i, j, c.Rows, c.Cols)
		}
		if v := float64(c.Val[p]); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("entry %d is %v", p, v)
		}
	}
	for _, ids := range []*IDs{s.Rows, s.Cols} {
		if ids == nil {
			continue
		}
		for i, name := range ids.Names() {
			if j, ok := ids.Index(name); !ok || j != i {
				t.Fatalf("name %q of index %d leads to %d, %v", name, i, j, ok)
			}
		}
	}
	if s.Rows != nil && s.Rows.Len() != c.Rows || s.Cols != nil && s.Cols.Len() != c.Cols {
		t.Fatalf("the id maps do not fit the shape %d×%d", c.Rows, c.Cols)
	}
}
