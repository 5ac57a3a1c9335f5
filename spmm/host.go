package spmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/asm"
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
	src := values[T]{cols: pat.ColIdx.Host(), kernel: asm.For[T]().SpMM}
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
			if alpha == 0 {
				clear(acc)
				return
			}
			src.addRows(acc, alpha, bm, u.Lo, u.Hi, u.Hi, true)
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			row := cm.Row(i)
			if alpha == 0 || beta != 0 {
				scaleRow(row, beta)
			}
			if alpha != 0 {
				src.addRows(row, alpha, bm, rowPtr[i], rowPtr[i+1], u.Hi, beta == 0)
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
	cols   []int32
	val    []T     // nil: all ones
	perm   []int64 // nil: val is in the order of cols
	kernel func(c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool)
}

// addRows adds α·Σ s_z·B_cols[z] over the non-zeros [lo, hi) to acc, or sets acc to it. Rows of B for
// non-zeros up to end are fetched early.
func (s *values[T]) addRows(acc []T, alpha T, b dense.Matrix[T], lo, hi, end int64, fresh bool) {
	switch {
	case len(acc) == 1:
		sum := alpha * s.dot(b, lo, hi)
		if !fresh {
			sum += acc[0]
		}
		acc[0] = sum
	case s.val == nil:
		s.kernel(acc, nil, b.Data, b.Stride, s.cols[lo:end], int(hi-lo), alpha, fresh)
	case s.perm == nil:
		s.kernel(acc, s.val[lo:hi], b.Data, b.Stride, s.cols[lo:end], int(hi-lo), alpha, fresh)
	default:
		// Collect the values of a stretch of non-zeros, then multiply.
		const stretch = 256
		var v [stretch]T
		for first := true; first || lo < hi; first = false {
			n := int(min(hi-lo, stretch))
			for z, at := range s.perm[lo : lo+int64(n)] {
				v[z] = s.val[at]
			}
			s.kernel(acc, v[:n], b.Data, b.Stride, s.cols[lo:end], n, alpha, fresh && first)
			lo += int64(n)
		}
	}
}

// dot returns Σ s_z·B_cols[z] for K = 1, where all is streaming but B, with four partial sums so that
// additions overlap.
func (s *values[T]) dot(b dense.Matrix[T], lo, hi int64) T {
	cols := s.cols[lo:hi]
	var sum [4]T
	switch {
	case s.val == nil:
		for z, c := range cols {
			sum[z&3] += b.Data[int(c)*b.Stride]
		}
	case s.perm != nil:
		perm := s.perm[lo:hi]
		for z, c := range cols {
			sum[z&3] += s.val[perm[z]] * b.Data[int(c)*b.Stride]
		}
	default:
		v := s.val[lo:hi]
		for len(cols) >= 4 && len(v) >= 4 {
			sum[0] += v[0] * b.Data[int(cols[0])*b.Stride]
			sum[1] += v[1] * b.Data[int(cols[1])*b.Stride]
			sum[2] += v[2] * b.Data[int(cols[2])*b.Stride]
			sum[3] += v[3] * b.Data[int(cols[3])*b.Stride]
			cols, v = cols[4:], v[4:]
		}
		for z, c := range cols {
			sum[z] += v[z] * b.Data[int(c)*b.Stride]
		}
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}
