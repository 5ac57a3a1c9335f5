package spmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/pattern"
)

// runHost is the CPU path: whole rows go straight to C, pieces of long rows go to scratch and
// are added up in order afterwards.
func (pl *Plan[T]) runHost(ctx context.Context, host device.Host, pat *pattern.Resident, perm *device.Buffer[int64], alpha T, s *device.Buffer[T], b *dense.Resident[T], beta T, c *dense.Resident[T]) error {
	k := c.Cols
	if k == 0 {
		return ctx.Err()
	}
	rowPtr := pat.RowPtr.Host()
	src := values[T]{cols: pat.ColIdx.Host()}
	if s != nil {
		src.val = s.Host()
	}
	if perm != nil {
		src.perm = perm.Host()
	}
	bm, cm := b.Host(), c.Host()
	var scratch []T
	if pl.scratch != nil {
		scratch = pl.scratch.Host()
	}
	work := pat.Work
	err := host.Run(ctx, len(work.Units), func(unit int) {
		u := work.Units[unit]
		if u.Slot >= 0 {
			acc := scratch[u.Slot*k : (u.Slot+1)*k]
			clear(acc)
			if alpha != 0 {
				src.addRows(acc, alpha, bm, u.Lo, u.Hi)
			}
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			row := cm.Row(i)
			scaleRow(row, beta)
			if alpha != 0 {
				src.addRows(row, alpha, bm, rowPtr[i], rowPtr[i+1])
			}
		}
	})
	if err != nil {
		return err
	}
	return host.Run(ctx, len(work.Split), func(n int) {
		split := work.Split[n]
		row := cm.Row(split.Row)
		scaleRow(row, beta)
		for slot := split.SlotLo; slot < split.SlotHi; slot++ {
			for j, v := range scratch[slot*k : (slot+1)*k] {
				row[j] += v
			}
		}
	})
}

// scaleRow sets row = β·row, and to zero for β = 0 whatever it held.
func scaleRow[T Float](row []T, beta T) {
	switch beta {
	case 0:
		clear(row)
	case 1:
	default:
		for j := range row {
			row[j] *= beta
		}
	}
}

// values are the non-zeros of S as one of its two indices sees them.
type values[T Float] struct {
	cols []int32
	val  []T     // nil: all ones
	perm []int64 // nil: val is in the order of cols
}

func (s *values[T]) at(z int64) T {
	switch {
	case s.val == nil:
		return 1
	case s.perm != nil:
		return s.val[s.perm[z]]
	}
	return s.val[z]
}

// addRows adds α·Σ s_z·B_cols[z] over the non-zeros [lo, hi) to acc, four rows of B at a time so
// that acc is read and written once for four products.
func (s *values[T]) addRows(acc []T, alpha T, b dense.Matrix[T], lo, hi int64) {
	if len(acc) == 1 {
		s.addScalars(acc, alpha, b, lo, hi)
		return
	}
	z := lo
	for ; z+4 <= hi; z += 4 {
		v0, v1, v2, v3 := alpha*s.at(z), alpha*s.at(z+1), alpha*s.at(z+2), alpha*s.at(z+3)
		b0 := b.Row(int(s.cols[z]))[:len(acc)]
		b1 := b.Row(int(s.cols[z+1]))[:len(acc)]
		b2 := b.Row(int(s.cols[z+2]))[:len(acc)]
		b3 := b.Row(int(s.cols[z+3]))[:len(acc)]
		for k := range acc {
			acc[k] += (v0*b0[k] + v1*b1[k]) + (v2*b2[k] + v3*b3[k])
		}
	}
	for ; z < hi; z++ {
		v := alpha * s.at(z)
		row := b.Row(int(s.cols[z]))[:len(acc)]
		for k := range acc {
			acc[k] += v * row[k]
		}
	}
}

// addScalars is addRows for K = 1: a sparse dot product with four partial sums.
func (s *values[T]) addScalars(acc []T, alpha T, b dense.Matrix[T], lo, hi int64) {
	var sum [4]T
	for z := lo; z < hi; z++ {
		sum[(z-lo)&3] += s.at(z) * b.Data[int(s.cols[z])*b.Stride]
	}
	acc[0] += alpha * ((sum[0] + sum[1]) + (sum[2] + sum[3]))
}
