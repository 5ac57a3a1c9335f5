package sddmm

import (
	"context"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// runHost is the CPU path: each unit walks its rows, the dot products of up to chunk non-zeros
// go to a small array, and the epilogue runs over that array.
func (pl *Plan[T]) runHost(ctx context.Context, host device.Host, f Epilogue, alpha T, s *device.Buffer[T], a, b *dense.Resident[T], beta T, p *device.Buffer[T]) error {
	rowPtr, colIdx := pl.pat.RowPtr.Host(), pl.pat.ColIdx.Host()
	am, bm, out := a.Host(), b.Host(), p.Host()
	var in []T
	if s != nil {
		in = s.Host()
	}
	if in == nil {
		in = out // Dot does not look at it
	}
	units := pl.pat.Work.Units
	return host.Run(ctx, len(units), func(unit int) {
		const chunk = 256
		var dots [chunk]T
		u := units[unit]
		for i := u.RowLo; i < u.RowHi; i++ {
			lo, hi := max(rowPtr[i], u.Lo), min(rowPtr[i+1], u.Hi)
			for lo < hi {
				n := min(hi-lo, chunk)
				d := dots[:n]
				if alpha != 0 {
					rowDots(d, am, i, bm, colIdx[lo:lo+n])
				}
				epilogue(f, alpha, in[lo:lo+n], d, beta, out[lo:lo+n])
				lo += n
			}
		}
	})
}

// rowDots sets d_j = ⟨A_i, B_cols[j]⟩.
func rowDots[T Float](d []T, am dense.Matrix[T], i int, b dense.Matrix[T], cols []int32) {
	switch am.Cols {
	case 0:
		clear(d)
		return
	case 1:
		x := am.Data[i*am.Stride]
		for j, c := range cols {
			d[j] = x * b.Data[int(c)*b.Stride]
		}
		return
	}
	a := am.Row(i)
	for j, c := range cols {
		d[j] = dot(a, b.Row(int(c)))
	}
}

// dot returns ⟨a, b⟩ with eight partial sums, so that additions overlap.
func dot[T Float](a, b []T) T {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for k, x := range a {
		s0 += x * b[k]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// epilogue sets p = α·f(s, d) + β·p; with β = 0 it does not read p, with α = 0 neither s nor d.
// It writes α·f(s, d) over d.
func epilogue[T Float](f Epilogue, alpha T, s, d []T, beta T, p []T) {
	s, p = s[:len(d)], p[:len(d)]
	switch {
	case alpha == 0:
		clear(d)
	case f == Dot:
		for j := range d {
			d[j] *= alpha
		}
	case f == Scale:
		for j := range d {
			d[j] = alpha * (s[j] * d[j])
		}
	case f == Residual:
		for j := range d {
			d[j] = alpha * (s[j] - d[j])
		}
	case f == Quotient:
		for j := range d {
			d[j] = alpha * (s[j] / d[j])
		}
	}
	if beta == 0 {
		copy(p, d)
		return
	}
	for j := range d {
		p[j] = d[j] + beta*p[j]
	}
}
