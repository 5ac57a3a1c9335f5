package dense

import (
	"context"
	"fmt"

	"sddmmkit/device"
)

// blockElems is the number of elements in one unit of row-wise work. It is a constant, so that
// sums over blocks do not depend on the number of threads.
const blockElems = 1 << 14

// host returns the device that all operands of op live on, as one that runs Go functions.
func host(op string, operands ...device.Operand) (device.Host, error) {
	if err := device.Check(op, operands...); err != nil {
		return nil, err
	}
	h, ok := operands[0].On.(device.Host)
	if !ok {
		return nil, &device.Error{Device: operands[0].On.Name(), Call: op, Err: device.ErrUnsupported,
			Detail: fmt.Sprintf("no row-wise operations for %s devices in this build", operands[0].On.Kind())}
	}
	return h, nil
}

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

func shapeError(op, want, operands string, args ...any) error {
	return &device.ShapeError{Op: op, Operands: fmt.Sprintf(operands, args...), Want: want}
}
