package sparse

import (
	"context"
	"slices"

	"sddmmkit/internal/parallel"
)

// Sorted reports whether the columns of every row are strictly increasing.
func (p *Pattern) Sorted() bool {
	for i := range p.Rows {
		row := p.Row(i)
		for k := 1; k < len(row); k++ {
			if row[k] <= row[k-1] {
				return false
			}
		}
	}
	return true
}

// SortRows sorts the columns of every row, in place. Values that belong to the pattern do not
// move along: use [CSR.SortRows] for those. It must not be called on a pattern that values,
// transposes or plans already refer to.
func (p *Pattern) SortRows(threads int) {
	cuts := cutByNNZ(p.RowPtr, workUnits(parallel.Threads(threads), p.NNZ()))
	_ = parallel.Units(context.Background(), threads, len(cuts)-1, func(u int) {
		for i := cuts[u]; i < cuts[u+1]; i++ {
			slices.Sort(p.Row(i))
		}
	})
}

// SortRows sorts every row by column, in place, values moving with their columns. It must not be
// called on a matrix whose pattern is shared.
func (m *CSR[T]) SortRows(threads int) {
	threads = parallel.Threads(threads)
	cuts := cutByNNZ(m.RowPtr, workUnits(threads, m.NNZ()))
	sorters := newSorters[T](threads, min(longestRow(m.RowPtr), 1<<20))
	_ = parallel.Units(context.Background(), threads, len(cuts)-1, func(u int) {
		s := <-sorters
		for i := cuts[u]; i < cuts[u+1]; i++ {
			lo, hi := m.RowPtr[i], m.RowPtr[i+1]
			s.sort(m.ColIdx[lo:hi], m.Val[lo:hi])
		}
		sorters <- s
	})
}

// insertionRow is the longest row sorted by insertion.
const insertionRow = 20

// rowSorter sorts one row at a time by column and keeps entries of the same column in order. Its
// scratch holds limit entries; a longer row is sorted in pieces and merged in place.
type rowSorter[T Float] struct {
	limit int
	keys  []uint64
	vals  []T
}

// newSorters returns one sorter per thread, to be taken and put back by the units of work.
func newSorters[T Float](threads, limit int) chan *rowSorter[T] {
	c := make(chan *rowSorter[T], threads)
	for range threads {
		c <- &rowSorter[T]{limit: limit}
	}
	return c
}

func (s *rowSorter[T]) sort(cols []int32, vals []T) {
	switch n := len(cols); {
	case slices.IsSorted(cols):
	case n <= insertionRow:
		insertionSort(cols, vals)
	case n <= s.limit:
		s.sortPacked(cols, vals)
	default:
		for lo := 0; lo < n; lo += s.limit {
			hi := min(lo+s.limit, n)
			s.sortPacked(cols[lo:hi], vals[lo:hi])
		}
		for width := s.limit; width < n; width *= 2 {
			for lo := 0; lo+width < n; lo += 2 * width {
				hi := min(lo+2*width, n)
				s.merge(cols[lo:hi], vals[lo:hi], width)
			}
		}
	}
}

// sortPacked sorts keys of column and place: they are distinct, so that a fast unstable sort
// gives the stable order.
func (s *rowSorter[T]) sortPacked(cols []int32, vals []T) {
	if s.keys == nil {
		s.keys, s.vals = make([]uint64, s.limit), make([]T, s.limit)
	}
	keys, old := s.keys[:len(cols)], s.vals[:len(cols)]
	for k, j := range cols {
		keys[k] = uint64(uint32(j))<<32 | uint64(k)
	}
	copy(old, vals)
	slices.Sort(keys)
	for k, key := range keys {
		cols[k] = int32(key >> 32)
		vals[k] = old[uint32(key)]
	}
}

func insertionSort[T Float](cols []int32, vals []T) {
	for k := 1; k < len(cols); k++ {
		j, v := cols[k], vals[k]
		h := k
		for ; h > 0 && cols[h-1] > j; h-- {
			cols[h], vals[h] = cols[h-1], vals[h-1]
		}
		cols[h], vals[h] = j, v
	}
}
