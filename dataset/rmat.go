package dataset

import (
	"context"
	"math"
)

// The chances, in per cent, of the upper left, upper right and lower left quadrant of a recursive
// matrix; the lower right one has the remaining 5.
const rmatA, rmatB, rmatC = 57, 19, 19

// rmatCells draws cells of a recursive matrix (Chakrabarti, Zhan, Faloutsos, 2004) until nnz of
// them are distinct: at each of Scale levels a quadrant is chosen with the probabilities above.
//
// Where the matrix is so dense that draws hardly ever hit a free cell, the rest is chosen from
// the free cells with equal chances.
func rmatCells(ctx context.Context, s Spec, threads int) (*cells, error) {
	c := newCells(s.Rows, s.Cols, s.NNZ, threads)
	// Each round draws as many cells as are missing, never more, so that no cell must be thrown
	// away: the result is the first nnz distinct cells of one endless sequence.
	for block := 0; c.n < s.NNZ; {
		missing, first := s.NNZ-c.n, block
		err := c.draw(ctx, missing, func(b int, out []uint64) {
			rng := stream(s.Seed, forCells, first+b)
			for i := range out {
				out[i] = rmatCell(s.Scale, rng.Uint64)
			}
		})
		if err != nil {
			return nil, err
		}
		block += blocks(missing)
		if got := missing - (s.NNZ - c.n); got < missing/8+1 && c.n < s.NNZ {
			return c, c.fill(ctx, s.NNZ, s.Seed)
		}
	}
	return c, nil
}

// rmatCell draws one cell. 32 random bits choose a quadrant, so that each is chosen with its
// probability to within 2^-32.
func rmatCell(scale int, random func() uint64) uint64 {
	const (
		a   = rmatA << 32 / 100
		ab  = (rmatA + rmatB) << 32 / 100
		abc = (rmatA + rmatB + rmatC) << 32 / 100
	)
	var row, col, bits uint64
	for level := range scale {
		if level%2 == 0 {
			bits = random()
		}
		x := bits & math.MaxUint32
		bits >>= 32
		row <<= 1
		col <<= 1
		if x >= ab {
			row |= 1
		}
		if x >= a && x < ab || x >= abc {
			col |= 1
		}
	}
	return row<<scale | col
}

// fill adds free cells, in a pseudo-random order of all cells, until there are nnz.
func (c *cells) fill(ctx context.Context, nnz int64, seed uint64) error {
	total := uint64(c.rows) * uint64(c.cols)
	order := newPermutation(total, seed, forFill)
	fresh := make([]uint64, 0, nnz-c.n)
	for x := uint64(0); int64(len(fresh)) < nnz-c.n && x < total; x++ {
		if x%genBlock == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if cell := order.at(x); !c.has(cell) {
			fresh = append(fresh, cell)
		}
	}
	return c.draw(ctx, int64(len(fresh)), func(block int, out []uint64) {
		copy(out, fresh[block*genBlock:])
	})
}
