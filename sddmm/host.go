package sddmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/asm"
)

// runHost is the CPU path: units of the pattern on the host's threads, and within a unit one call of
// the inner loop per row. The loop sees the column indices up to the end of the unit, so that it can
// fetch rows of B for the rows of A that follow.
func (pl *Plan[T]) runHost(ctx context.Context, host device.Host, f Epilogue, alpha T, s *device.Buffer[T], a, b *dense.Resident[T], beta T, p *device.Buffer[T]) error {
	rowPtr, colIdx := pl.pat.RowPtr.Host(), pl.pat.ColIdx.Host()
	am, bm, out := a.Host(), b.Host(), p.Host()
	in := out // Dot does not look at it
	if s != nil {
		in = s.Host()
	}
	op := asm.Op(f)
	if beta != 0 {
		op |= asm.Beta
	}
	kernel := asm.For[T]().SDDMM
	units := pl.pat.Work.Units
	return host.Run(ctx, len(units), func(unit int) {
		u := units[unit]
		if alpha == 0 {
			scale(out[u.Lo:u.Hi], beta)
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			lo, hi := max(rowPtr[i], u.Lo), min(rowPtr[i+1], u.Hi)
			if lo < hi {
				kernel(out[lo:hi], in[lo:hi], am.Row(i), bm.Data, bm.Stride, colIdx[lo:u.Hi], op, alpha, beta)
			}
		}
	})
}

// scale sets p = β·p, and to zero for β = 0 whatever it held.
func scale[T Float](p []T, beta T) {
	if beta == 0 {
		clear(p)
		return
	}
	for j := range p {
		p[j] *= beta
	}
}
