package dataset

import (
	"context"
	"slices"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// cells is a set of cells of a rows×cols matrix, each as row·cols + column. They are kept in
// parts of consecutive rows; within a part they are sorted and distinct.
type cells struct {
	rows, cols int
	threads    int
	partRows   int
	parts      [][]uint64
	n          int64
}

func newCells(rows, cols int, nnz int64, threads int) *cells {
	c := &cells{rows: rows, cols: cols, threads: threads}
	parts := min(int(nnz/(1<<14))+1, 1024, rows)
	c.partRows = (rows + parts - 1) / parts
	c.parts = make([][]uint64, (rows+c.partRows-1)/c.partRows)
	return c
}

func (c *cells) part(cell uint64) int { return int(cell/uint64(c.cols)) / c.partRows }

// has says whether the set holds a cell.
func (c *cells) has(cell uint64) bool {
	_, ok := slices.BinarySearch(c.parts[c.part(cell)], cell)
	return ok
}

// draw makes n draws and adds those cells that are new. Block b of the draws comes from
// fill(b, out).
func (c *cells) draw(ctx context.Context, n int64, fill func(block int, out []uint64)) error {
	var (
		drawn  = make([]uint64, n)
		counts = make([][]int, blocks(n)) // of block and part; then where the block's cells of the part begin
	)
	err := parallel.Units(ctx, c.threads, len(counts), func(b int) {
		out := drawn[b*genBlock : min((b+1)*genBlock, len(drawn))]
		fill(b, out)
		counts[b] = make([]int, len(c.parts))
		for _, cell := range out {
			counts[b][c.part(cell)]++
		}
	})
	if err != nil {
		return err
	}
	starts := make([]int, len(c.parts)+1)
	at := 0
	for p := range c.parts {
		starts[p] = at
		for b := range counts {
			counts[b][p], at = at, at+counts[b][p]
		}
	}
	starts[len(c.parts)] = at
	byPart := make([]uint64, n)
	err = parallel.Units(ctx, c.threads, len(counts), func(b int) {
		for _, cell := range drawn[b*genBlock : min((b+1)*genBlock, len(drawn))] {
			p := c.part(cell)
			byPart[counts[b][p]] = cell
			counts[b][p]++
		}
	})
	if err != nil {
		return err
	}
	err = parallel.Units(ctx, c.threads, len(c.parts), func(p int) {
		if fresh := byPart[starts[p]:starts[p+1]]; len(fresh) > 0 {
			slices.Sort(fresh)
			c.parts[p] = union(c.parts[p], slices.Compact(fresh))
		}
	})
	c.n = 0
	for _, part := range c.parts {
		c.n += int64(len(part))
	}
	return err
}

// union merges two sorted lists of distinct cells into one.
func union(a, b []uint64) []uint64 {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		out = append(out, min(x, y))
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// coo returns the cells in row order with values in (0, 1], uniform multiples of 2^-24, which
// both element types hold exactly.
func coo[T sparse.Float](ctx context.Context, c *cells, seed uint64) (*sparse.COO[T], error) {
	m := &sparse.COO[T]{Rows: c.rows, Cols: c.cols, Row: make([]int32, c.n), Col: make([]int32, c.n)}
	starts := make([]int, len(c.parts))
	for p := 1; p < len(starts); p++ {
		starts[p] = starts[p-1] + len(c.parts[p-1])
	}
	err := parallel.Units(ctx, c.threads, len(c.parts), func(p int) {
		for q, cell := range c.parts[p] {
			m.Row[starts[p]+q] = int32(cell / uint64(c.cols))
			m.Col[starts[p]+q] = int32(cell % uint64(c.cols))
		}
	})
	if err != nil {
		return nil, err
	}
	m.Val, err = uniformValues[T](ctx, c.n, seed, c.threads)
	return m, err
}

func uniformValues[T sparse.Float](ctx context.Context, n int64, seed uint64, threads int) ([]T, error) {
	v := make([]T, n)
	err := parallel.Units(ctx, threads, blocks(n), func(b int) {
		rng := stream(seed, forValues, b)
		for p := b * genBlock; p < min((b+1)*genBlock, len(v)); p++ {
			v[p] = T(rng.Uint32()>>8+1) / (1 << 24)
		}
	})
	return v, err
}
