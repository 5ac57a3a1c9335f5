package dataset

import "sddmmkit/sparse"

// Set is a matrix read from a file or generated, with what a solver wants to know about it.
type Set[T sparse.Float] struct {
	Name   string // file name or generator spec
	Format Format // the format it was read as
	COO    *sparse.COO[T]
	Rows   *IDs    // names of rows (users); nil where the file's numbers are the indices
	Cols   *IDs    // names of columns (items); nil likewise
	Time   []int64 // per entry, where the file has a time column; nil otherwise
}

// IDs maps the names found in a file to indices 0, 1, 2, … in order of first appearance.
type IDs struct {
	names []string
	index map[string]int32
}

// NewIDs returns an id map over names, which must be distinct; it keeps the slice.
func NewIDs(names []string) *IDs {
	ids := &IDs{names: names, index: make(map[string]int32, len(names))}
	for i, n := range names {
		ids.index[n] = int32(i)
	}
	return ids
}

// Len returns the number of names.
func (ids *IDs) Len() int { return len(ids.names) }

// Name returns the name of index i.
func (ids *IDs) Name(i int) string { return ids.names[i] }

// Names returns all names by index. The slice is the map's own: do not change it.
func (ids *IDs) Names() []string { return ids.names }

// Index returns the index of a name and whether it is known.
func (ids *IDs) Index(name string) (int, bool) {
	i, ok := ids.index[name]
	return int(i), ok
}
