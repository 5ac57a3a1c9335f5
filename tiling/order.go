package tiling

import (
	"fmt"
	"slices"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Order is a permutation of rows or columns, both ways: what is at place n stood at Old[n], and what
// stood at o is now at New[o].
type Order struct {
	Old, New []int32
}

// Inverse returns the way back. It shares the slices.
func (o Order) Inverse() Order { return Order{Old: o.New, New: o.Old} }

// RowsByCount orders the rows of p by falling number of non-zeros; equal ones keep their order.
func RowsByCount(p *sparse.Pattern) Order {
	counts := make([]int64, p.Rows)
	for i := range counts {
		counts[i] = p.RowPtr[i+1] - p.RowPtr[i]
	}
	return byCount(counts)
}

// ColumnsByCount orders the columns of p by falling number of non-zeros; equal ones keep their
// order.
func ColumnsByCount(p *sparse.Pattern, threads int) Order { return byCount(ColumnCounts(p, threads)) }

// ColumnCounts returns the number of non-zeros of each column of p.
func ColumnCounts(p *sparse.Pattern, threads int) []int64 {
	// No more chunks than keep their counts within the size of the pattern.
	chunks := int(max(1, min(int64(parallel.Threads(threads)), p.NNZ()/int64(max(p.Cols, 1)))))
	parts := make([][]int64, chunks)
	chunkLoop(threads, chunks, func(c int) {
		count := make([]int64, p.Cols)
		nnz := p.NNZ()
		for _, j := range p.ColIdx[nnz*int64(c)/int64(chunks) : nnz*int64(c+1)/int64(chunks)] {
			count[j]++
		}
		parts[c] = count
	})
	for _, part := range parts[1:] {
		for j, n := range part {
			parts[0][j] += n
		}
	}
	return parts[0]
}

// byCount sorts by counting: counts are at most the length of the other side.
func byCount(counts []int64) Order {
	o := Order{Old: make([]int32, len(counts)), New: make([]int32, len(counts))}
	if len(counts) == 0 {
		return o
	}
	most := slices.Max(counts)
	place := make([]int32, most+2) // place[most-n]: where the next row with n non-zeros goes
	for _, n := range counts {
		place[most-n+1]++
	}
	for k := range most + 1 {
		place[k+1] += place[k]
	}
	for old, n := range counts {
		at := place[most-n]
		place[most-n]++
		o.Old[at], o.New[old] = int32(old), at
	}
	return o
}

// Reorder returns p with its rows and columns in new orders; an Order without slices leaves them
// as they are. Rows of the result are sorted. Its non-zero z is non-zero perm[z] of p. With the
// Inverse of both orders it leads back: to p itself where p's rows are sorted.
func Reorder(p *sparse.Pattern, rows, cols Order, threads int) (q *sparse.Pattern, perm []int64, err error) {
	if err := rows.check("rows", p.Rows); err != nil {
		return nil, nil, err
	}
	if err := cols.check("columns", p.Cols); err != nil {
		return nil, nil, err
	}
	q = &sparse.Pattern{Rows: p.Rows, Cols: p.Cols, RowPtr: make([]int64, p.Rows+1), ColIdx: make([]int32, p.NNZ())}
	perm = make([]int64, p.NNZ())
	from := func(i int) int { return i }
	if rows.Old != nil {
		from = func(i int) int { return int(rows.Old[i]) }
	}
	for i := range p.Rows {
		old := from(i)
		q.RowPtr[i+1] = q.RowPtr[i] + p.RowPtr[old+1] - p.RowPtr[old]
	}
	cuts := cutRows(q, int(max(1, min(int64(4*parallel.Threads(threads)), (p.NNZ()+int64(p.Rows))>>12))))
	chunkLoop(threads, len(cuts)-1, func(c int) {
		var keys []uint64 // column and place within the row
		for i := cuts[c]; i < cuts[c+1]; i++ {
			first := p.RowPtr[from(i)]
			row := p.Row(from(i))
			keys = keys[:0]
			for k, j := range row {
				if cols.New != nil {
					j = cols.New[j]
				}
				keys = append(keys, uint64(j)<<32|uint64(k))
			}
			if !slices.IsSorted(keys) {
				slices.Sort(keys)
			}
			at := q.RowPtr[i]
			for k, key := range keys {
				q.ColIdx[at+int64(k)] = int32(key >> 32)
				perm[at+int64(k)] = first + int64(uint32(key))
			}
		}
	})
	return q, perm, nil
}

// check returns an error unless the order is empty or a permutation of n.
func (o Order) check(what string, n int) error {
	if o.Old == nil && o.New == nil {
		return nil
	}
	if len(o.Old) != n || len(o.New) != n {
		return fmt.Errorf("tiling.Reorder: an order of %d and %d %s; want %d, the pattern's", len(o.Old), len(o.New), what, n)
	}
	for place, old := range o.Old {
		if old < 0 || int(old) >= n || int(o.New[old]) != place {
			return fmt.Errorf("tiling.Reorder: the order of %s is no permutation with its inverse at place %d", what, place)
		}
	}
	return nil
}
