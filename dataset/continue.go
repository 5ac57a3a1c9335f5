package dataset

import "fmt"

// continueIDs renumbers a set that was read with its own id maps, so that they continue those
// of another file as Options.RowIDs and ColIDs promise. A nil map changes nothing.
func (s *Set[T]) continueIDs(rows, cols *IDs) error {
	if rows != nil && s.Rows == nil || cols != nil && s.Cols == nil {
		return &ParseError{File: s.Name, Got: fmt.Sprintf("format %s, whose numbers are indices", s.Format),
			Want: "a format with names, to continue an id map"}
	}
	if rows != nil {
		s.Rows = renumber(s.COO.Row, s.Rows, rows)
		s.COO.Rows = s.Rows.Len()
	}
	if cols != nil {
		s.Cols = renumber(s.COO.Col, s.Cols, cols)
		s.COO.Cols = s.Cols.Len()
	}
	return nil
}

// renumber turns indices by own into indices by base, extended by the names that only own has.
func renumber(index []int32, own, base *IDs) *IDs {
	t := newIDTable()
	t.seed(base)
	to := make([]int32, own.Len())
	for i, name := range own.Names() {
		to[i] = t.id([]byte(name))
	}
	for p, i := range index {
		index[p] = to[i]
	}
	return t.ids(base)
}
