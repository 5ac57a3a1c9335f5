package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// cell is a position of a matrix.
type cell struct{ i, j int }

// mimic is a matrix as a map: the obviously right model that the tests compare with.
type mimic[T Float] map[cell]T

// mimicOf merges triplets by the rule, or reports the first position in row order that repeats.
func mimicOf[T Float](c *COO[T], dup Duplicates) (mimic[T], *DuplicateError) {
	m := mimic[T]{}
	first := map[cell]int64{}
	var bad *DuplicateError
	for p, v := range c.Val {
		at := cell{int(c.Row[p]), int(c.Col[p])}
		old, seen := m[at]
		switch {
		case !seen:
			m[at], first[at] = v, int64(p)
		case dup == SumDuplicates:
			m[at] = old + v
		case dup == LastDuplicate:
			m[at] = v
		default:
			if bad == nil || at.i < bad.Row || at.i == bad.Row && at.j < bad.Col {
				bad = &DuplicateError{at.i, at.j, first[at], int64(p)}
			}
		}
	}
	return m, bad
}

// csr lays the mimic out with sorted rows.
func (m mimic[T]) csr(rows, cols int) *CSR[T] {
	cells := make([]cell, 0, len(m))
	for at := range m {
		cells = append(cells, at)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if a.i != b.i {
			return a.i - b.i
		}
		return a.j - b.j
	})
	out := &CSR[T]{Pattern: Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for _, at := range cells {
		out.RowPtr[at.i+1]++
		out.ColIdx = append(out.ColIdx, int32(at.j))
		out.Val = append(out.Val, m[at])
	}
	for i := range rows {
		out.RowPtr[i+1] += out.RowPtr[i]
	}
	return out
}

// mimicOfCSR reads a matrix back.
func mimicOfCSR[T Float](m *CSR[T]) mimic[T] {
	out := mimic[T]{}
	for i := range m.Rows {
		for q := m.RowPtr[i]; q < m.RowPtr[i+1]; q++ {
			out[cell{i, int(m.ColIdx[q])}] = m.Val[q]
		}
	}
	return out
}

func (m mimic[T]) transpose() mimic[T] {
	t := mimic[T]{}
	for at, v := range m {
		t[cell{at.j, at.i}] = v
	}
	return t
}

// diff says where two matrices differ in any bit of structure or values, or returns "".
func diff[T Float](got, want *CSR[T]) string {
	if got.Rows != want.Rows || got.Cols != want.Cols {
		return fmt.Sprintf("shape %d×%d, want %d×%d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	if !slices.Equal(got.RowPtr, want.RowPtr) {
		return fmt.Sprintf("row pointers %v, want %v", clip(got.RowPtr), clip(want.RowPtr))
	}
	if !slices.Equal(got.ColIdx, want.ColIdx) {
		return fmt.Sprintf("columns %v, want %v", clip(got.ColIdx), clip(want.ColIdx))
	}
	if len(got.Val) != len(want.Val) {
		return fmt.Sprintf("%d values, want %d", len(got.Val), len(want.Val))
	}
	for q := range got.Val {
		if math.Float64bits(float64(got.Val[q])) != math.Float64bits(float64(want.Val[q])) {
			return fmt.Sprintf("value %d is %v, want %v", q, got.Val[q], want.Val[q])
		}
	}
	return ""
}

func clip[E any](s []E) []E { return s[:min(len(s), 40)] }

// randomCOO returns triplets of which about a share dup repeat a position. Values have many
// significant bits, so that sums in another order differ.
func randomCOO[T Float](rng *rand.Rand, rows, cols, nnz int, dup float64) *COO[T] {
	c := &COO[T]{Rows: rows, Cols: cols}
	seen := map[cell]bool{}
	for len(c.Val) < nnz && len(seen) < rows*cols {
		at := cell{rng.IntN(rows), rng.IntN(cols)}
		if len(c.Val) > 0 && rng.Float64() < dup {
			p := rng.IntN(len(c.Val))
			at = cell{int(c.Row[p]), int(c.Col[p])}
		} else if seen[at] {
			continue
		}
		seen[at] = true
		c.Row, c.Col = append(c.Row, int32(at.i)), append(c.Col, int32(at.j))
		c.Val = append(c.Val, T(rng.NormFloat64()))
	}
	return c
}

// shuffleRows brings the entries of every row into a random order.
func shuffleRows[T Float](rng *rand.Rand, m *CSR[T]) {
	for i := range m.Rows {
		lo, hi := m.RowPtr[i], m.RowPtr[i+1]
		rng.Shuffle(int(hi-lo), func(a, b int) {
			m.ColIdx[lo+int64(a)], m.ColIdx[lo+int64(b)] = m.ColIdx[lo+int64(b)], m.ColIdx[lo+int64(a)]
			m.Val[lo+int64(a)], m.Val[lo+int64(b)] = m.Val[lo+int64(b)], m.Val[lo+int64(a)]
		})
	}
}

// shapes are the sizes that the tests run through, and why.
var shapes = []struct {
	rows, cols, nnz int
	why             string
}{
	{0, 0, 0, "nothing at all"},
	{0, 5, 0, "no rows"},
	{5, 0, 0, "no columns"},
	{1, 1, 0, "one empty cell"},
	{1, 1, 1, "one full cell"},
	{7, 3, 0, "empty rows only"},
	{3, 4, 12, "dense"},
	{1, 300, 200, "one row"},
	{300, 1, 200, "one column"},
	{1000, 10, 500, "M ≫ N with empty rows"},
	{10, 1000, 500, "M ≪ N"},
	{2000, 2000, 300, "hypersparse"},
	{60, 50, 1500, "rows longer than the insertion sort's"},
	{400, 300, 30000, "several units and chunks"},
	{3, 40000, 30000, "rows longer than the sorter's scratch"},
}
