package dataset

import (
	"errors"
	"fmt"

	"sddmmkit/sparse"
)

// Merge returns s with at most one entry per cell, and how many entries that took away. Without
// duplicates it returns s itself. Merged sets have their entries in row order; the time of a
// merged entry is that of the last one. With sparse.ErrorOnDuplicates a duplicate is an error that
// names the cell and wraps the *sparse.DuplicateError.
//
// Split a set after merging it: a cell in both train and test makes the test worthless.
func (s *Set[T]) Merge(dup sparse.Duplicates, threads int) (*Set[T], int64, error) {
	_, err := sparse.FromCOO(s.COO, sparse.BuildOptions{Threads: threads})
	var twice *sparse.DuplicateError
	switch {
	case err == nil:
		return s, 0, nil
	case !errors.As(err, &twice):
		return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
	case dup == sparse.ErrorOnDuplicates:
		return nil, 0, fmt.Errorf("%s: row %s, column %s is given more than once, by entries %d and %d (from 1); merge them as sum or last: %w",
			s.Name, s.Rows.label(twice.Row), s.Cols.label(twice.Col), twice.First+1, twice.Second+1, err)
	}
	merged, err := sparse.FromCOO(s.COO, sparse.BuildOptions{Duplicates: dup, Threads: threads})
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
	}
	out := &Set[T]{Name: s.Name, Format: s.Format, COO: merged.ToCOO(), Rows: s.Rows, Cols: s.Cols}
	if s.Time != nil {
		// The same merge of positions instead of values: float64 holds every position exactly.
		at := &sparse.COO[float64]{Rows: s.COO.Rows, Cols: s.COO.Cols, Row: s.COO.Row, Col: s.COO.Col, Val: make([]float64, len(s.COO.Val))}
		for p := range at.Val {
			at.Val[p] = float64(p)
		}
		last, err := sparse.FromCOO(at, sparse.BuildOptions{Duplicates: sparse.LastDuplicate, Threads: threads})
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		out.Time = make([]int64, len(last.Val))
		for q, p := range last.Val {
			out.Time[q] = s.Time[int(p)]
		}
	}
	return out, s.COO.NNZ() - out.COO.NNZ(), nil
}

// label returns the name of index i in quotes, or the index itself where there are no names.
func (ids *IDs) label(i int) string {
	if ids == nil {
		return fmt.Sprint(i)
	}
	return fmt.Sprintf("%q", ids.Name(i))
}
