package dense

import (
	"context"

	"sddmmkit/device"
)

// blockElems is the number of elements in one unit of row-wise work. It is a constant, so that
// sums over blocks do not depend on the number of threads.
const blockElems = 1 << 11

// forRows calls body for blocks of rows of a matrix with the given sizes, in parallel.
func forRows(ctx context.Context, h device.Host, rows, cols int, body func(block, lo, hi int)) error {
	step, blocks := rowBlocks(rows, cols)
	return h.Run(ctx, blocks, func(b int) { body(b, b*step, min((b+1)*step, rows)) })
}

// rowBlocks returns the rows in a block and the number of blocks.
func rowBlocks(rows, cols int) (step, blocks int) {
	step = max(blockElems/max(cols, 1), 1)
	return step, (rows + step - 1) / step
}

// sumBlocks adds up one float64 per block, in the order of the blocks.
func sumBlocks(ctx context.Context, h device.Host, rows, cols int, body func(lo, hi int) float64) (float64, error) {
	_, blocks := rowBlocks(rows, cols)
	part := make([]float64, blocks)
	err := forRows(ctx, h, rows, cols, func(b, lo, hi int) { part[b] = body(lo, hi) })
	var sum float64
	for _, p := range part {
		sum += p
	}
	return sum, err
}

// sumParts bounds the partial sums of sumRows, whatever the number of rows.
const sumParts = 32

// sumRows calls add(sum, i) for every row i in order, on several sums of n elements at the same time, and adds those up
// in the order of their rows.
func sumRows(ctx context.Context, h device.Host, rows, n int, add func(sum []float64, i int)) ([]float64, error) {
	parts := min(sumParts, max(rows, 1))
	part := make([][]float64, parts)
	err := h.Run(ctx, parts, func(b int) {
		sum := make([]float64, n)
		for i := rows * b / parts; i < rows*(b+1)/parts; i++ {
			add(sum, i)
		}
		part[b] = sum
	})
	if err != nil {
		return nil, err
	}
	for _, p := range part[1:] {
		for k, v := range p {
			part[0][k] += v
		}
	}
	return part[0], nil
}
