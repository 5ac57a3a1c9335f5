package spmm

import (
	"context"
	"fmt"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// RunMixed is Plan.Run with B in 16 bits: half the bytes to gather, which is what takes the time on a GPU. Everything else is
// float32: S, products, sums and C. So the result is that of Run on dense.Widen(B) up to the order of additions.
//
// On the CPU every call widens B first: it gives the same bits as Run on the widened matrix, and takes longer.
func RunMixed[E device.Short](ctx context.Context, pl *Plan[float32], op Op, alpha float32, s *device.Buffer[float32], b *dense.Resident[E], beta float32, c *dense.Resident[float32]) error {
	if err := check("spmm.RunMixed", pl, op, s, b, c); err != nil {
		return err
	}
	dev := pl.pat.Device()
	if l, ok := dev.(device.Launcher); ok {
		pat, perm, err := pl.index(op)
		if err != nil {
			return err
		}
		return launch(ctx, pl, l, pat, perm, alpha, s, b, beta, c)
	}
	wide, err := dense.Place(dev, dense.Widened(b.Host()))
	if err != nil {
		return fmt.Errorf("spmm.RunMixed: B: %w", err)
	}
	defer wide.Close()
	return pl.Run(ctx, op, alpha, s, wide, beta, c)
}
