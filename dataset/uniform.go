package dataset

import "context"

// uniformCells returns nnz cells, each set of that size equally likely: the first nnz of a
// pseudo-random order of all cells.
func uniformCells(ctx context.Context, s Spec, threads int) (*cells, error) {
	c := newCells(s.Rows, s.Cols, s.NNZ, threads)
	order := newPermutation(uint64(s.Rows)*uint64(s.Cols), s.Seed, forCells)
	err := c.draw(ctx, s.NNZ, func(block int, out []uint64) {
		for i := range out {
			out[i] = order.at(uint64(block*genBlock + i))
		}
	})
	return c, err
}
