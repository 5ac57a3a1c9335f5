package sddmm

import (
	"context"
	"fmt"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// RunMixed is Plan.Run with A and B in 16 bits: half the bytes to gather, which is what takes the time on a GPU. Everything else
// is float32: products and sums, S and P. So the result is that of Run on A and B widened by dense.Widen, up to the order of
// additions.
//
// On the CPU every call widens A and B first: it gives the
// same bits as Run on the widened matrices, and takes longer.
func RunMixed[E device.Short](ctx context.Context, pl *Plan[float32], f Epilogue, alpha float32, s *device.Buffer[float32], a, b *dense.Resident[E], beta float32, p *device.Buffer[float32]) error {
	if err := check("sddmm.RunMixed", pl, f, s, a, b, p); err != nil {
		return err
	}
	dev := pl.pat.Device()
	if l, ok := dev.(device.Launcher); ok {
		return pl.launch(ctx, l, f, alpha, s, operandOf(a), operandOf(b), beta, p)
	}
	wideA, err := dense.Place(dev, dense.Widened(a.Host()))
	if err != nil {
		return fmt.Errorf("sddmm.RunMixed: A: %w", err)
	}
	defer wideA.Close()
	wideB, err := dense.Place(dev, dense.Widened(b.Host()))
	if err != nil {
		return fmt.Errorf("sddmm.RunMixed: B: %w", err)
	}
	defer wideB.Close()
	return pl.Run(ctx, f, alpha, s, wideA, wideB, beta, p)
}
