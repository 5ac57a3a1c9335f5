package asm

import "sddmmkit/tiling"

// generic returns the loops in Go.
func generic[T Float]() Kernels[T] {
	return Kernels[T]{
		CG:        CG[T]{startGeneric[T], stepGeneric[T]},
		SDDMM:     sddmmGeneric[T],
		SpMM:      spmmGeneric[T],
		SDDMMRows: sddmmRows[T],
		SDDMMSegments: func(p, s []T, a Rows[T], b []T, stride int, cols []int32, segs []tiling.Segment, op Op, alpha, beta T) {
			sddmmSegments(sddmmGeneric, p, s, a, b, stride, cols, segs, op, alpha, beta)
		},
		SpMMRows: func(c Rows[T], v, b []T, stride int, cols []int32, ptr []int64, alpha T, fresh, _ bool) {
			spmmRows(spmmGeneric, c, v, b, stride, cols, ptr, alpha, fresh)
		},
		SpMMSegments: func(c Rows[T], v, b []T, stride int, cols []int32, segs []tiling.Segment, rowPtr []int64, long int64, alpha T, fresh, _ bool) {
			spmmSegments(spmmGeneric, c, v, b, stride, cols, segs, rowPtr, long, alpha, fresh)
		},
	}
}

// The loops for one row of A or C.
type (
	sddmmRow[T Float] = func(p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T)
	spmmRow[T Float]  = func(c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool)
)

func sddmmRows[T Float](p, s []T, a Rows[T], b []T, stride int, cols []int32, ptr []int64, op Op, alpha, beta T) {
	for i := range len(ptr) - 1 {
		lo, hi := ptr[i]-ptr[0], ptr[i+1]-ptr[0]
		sddmmGeneric(p[lo:hi], s[lo:hi], a.Row(i), b, stride, cols[lo:hi], op, alpha, beta)
	}
}

// sddmmSegments goes over segments with a call of row for each.
func sddmmSegments[T Float](row sddmmRow[T], p, s []T, a Rows[T], b []T, stride int, cols []int32, segs []tiling.Segment, op Op, alpha, beta T) {
	for _, seg := range segs {
		lo, hi := seg.Lo, seg.Lo+int64(seg.N)
		row(p[lo:hi], s[lo:hi], a.Row(int(seg.Row)), b, stride, cols, op, alpha, beta)
		cols = cols[seg.N:]
	}
}

// spmmRows goes over rows with calls of row, for at most Stretch non-zeros each where that matters for the bits.
func spmmRows[T Float](row spmmRow[T], c Rows[T], v, b []T, stride int, cols []int32, ptr []int64, alpha T, fresh bool) {
	most := ptr[len(ptr)-1] - ptr[0]
	if c.K <= Narrow {
		most = Stretch
	}
	for i := range len(ptr) - 1 {
		if i+RowsAhead < len(ptr)-1 {
			Prefetch(c.Row(i + RowsAhead))
		}
		lo, end := ptr[i]-ptr[0], ptr[i+1]-ptr[0]
		for first := true; first || lo < end; first = false {
			hi := min(lo+most, end)
			var values []T
			if v != nil {
				values = v[lo:hi]
			}
			row(c.Row(i), values, b, stride, cols[lo:], int(hi-lo), alpha, fresh && first)
			lo = hi
		}
	}
}

// spmmSegments goes over segments with a call of row for each.
func spmmSegments[T Float](row spmmRow[T], c Rows[T], v, b []T, stride int, cols []int32, segs []tiling.Segment, rowPtr []int64, long int64, alpha T, fresh bool) {
	for g, seg := range segs {
		if g+RowsAhead < len(segs) {
			Prefetch(c.Row(int(segs[g+RowsAhead].Row)))
		}
		if lo := rowPtr[seg.Row]; rowPtr[seg.Row+1]-lo < long {
			var values []T
			if v != nil {
				values = v[seg.Lo:][:seg.N]
			}
			row(c.Row(int(seg.Row)), values, b, stride, cols, int(seg.N), alpha, fresh && seg.Lo == lo)
		}
		cols = cols[seg.N:]
	}
}

func sddmmGeneric[T Float](p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T) {
	if len(a) <= 2 {
		sddmmNarrow(p, s, a, b, stride, cols, op, alpha, beta)
		return
	}
	for j := range p {
		var d T
		if op&Continue != 0 {
			d = p[j]
		}
		row := b[int(cols[j])*stride:][:len(a)]
		if len(a) <= Narrow {
			d += a[0]*row[0] + a[1]*row[1] + a[2]*row[2]
			if len(a) == 4 {
				d += a[3] * row[3]
			}
			p[j] = finish(op, d, s, p, j, alpha, beta)
			continue
		}
		for lo, hi := 0, 0; lo < len(a); lo = hi {
			hi = SliceEnd(lo+SliceOf[T](), len(a))
			d += dot(a[lo:hi], row[lo:hi])
		}
		p[j] = finish(op, d, s, p, j, alpha, beta)
	}
}

// sddmmNarrow is SDDMM for rows of at most two elements, where nearly all is streaming.
func sddmmNarrow[T Float](p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T) {
	cols = cols[:len(p)]
	var x, y T
	switch len(a) {
	case 0:
		b, stride = []T{0}, 0
	case 1:
		x = a[0]
	case 2:
		x, y = a[0], a[1]
	}
	op &^= Near | Cached // nothing is fetched
	switch {
	case len(a) == 2 && op == Dot|Beta && beta == 1: // CCD++ changes one factor for the next
		x, y = alpha*x, alpha*y
		for j, c := range cols {
			at := int(c) * stride
			p[j] += x*b[at] + y*b[at+1]
		}
	case len(a) == 2 && op == Dot:
		x, y = alpha*x, alpha*y
		for j, c := range cols {
			at := int(c) * stride
			p[j] = x*b[at] + y*b[at+1]
		}
	case len(a) == 2:
		for j, c := range cols {
			at := int(c) * stride
			d := x*b[at] + y*b[at+1]
			if op&Continue != 0 {
				d += p[j]
			}
			p[j] = finish(op, d, s, p, j, alpha, beta)
		}
	case stride == 1 && op == Dot:
		x *= alpha
		for j, c := range cols {
			p[j] = x * b[c]
		}
	case stride == 1 && op == Dot|Beta && beta == 1:
		x *= alpha
		for j, c := range cols {
			p[j] += x * b[c]
		}
	case stride == 1 && op == Residual && alpha == 1:
		s = s[:len(p)]
		for j, c := range cols {
			p[j] = s[j] - x*b[c]
		}
	default:
		for j, c := range cols {
			d := x * b[int(c)*stride]
			if op&Continue != 0 {
				d += p[j]
			}
			p[j] = finish(op, d, s, p, j, alpha, beta)
		}
	}
}

// finish returns what becomes of the dot product d of entry j.
func finish[T Float](op Op, d T, s, p []T, j int, alpha, beta T) T {
	if op&Partial != 0 {
		return d
	}
	switch op & 3 {
	case Scale:
		d = s[j] * d
	case Residual:
		d = s[j] - d
	case Quotient:
		d = s[j] / d
	}
	d *= alpha
	if op&Beta != 0 {
		d += beta * p[j]
	}
	return d
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

func spmmGeneric[T Float](c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool) {
	cols = cols[:n]
	if fresh {
		clear(c)
	}
	if len(c) == 1 {
		c[0] += alpha * sparseDot(v, b, stride, cols)
		return
	}
	value := func(j int) T {
		if v == nil {
			return alpha
		}
		return alpha * v[j]
	}
	row := func(col int32) []T { return b[int(col)*stride:][:len(c)] }
	// Four rows of B at a time, so that c is read and written once for four; the order of the
	// additions is that of one at a time.
	j := 0
	for ; j+4 <= n; j += 4 {
		v0, v1, v2, v3 := value(j), value(j+1), value(j+2), value(j+3)
		b0, b1, b2, b3 := row(cols[j])[:len(c)], row(cols[j+1])[:len(c)], row(cols[j+2])[:len(c)], row(cols[j+3])[:len(c)]
		for k := range c {
			t := c[k]
			t += v0 * b0[k]
			t += v1 * b1[k]
			t += v2 * b2[k]
			t += v3 * b3[k]
			c[k] = t
		}
	}
	for ; j < n; j++ {
		x := value(j)
		for k, y := range row(cols[j]) {
			c[k] += x * y
		}
	}
}

// sparseDot returns Σ v[j]·b[stride·cols[j]] with four partial sums, so that additions overlap.
func sparseDot[T Float](v, b []T, stride int, cols []int32) T {
	var s0, s1, s2, s3 T
	switch {
	case v == nil:
		for len(cols) >= 4 {
			s0 += b[int(cols[0])*stride]
			s1 += b[int(cols[1])*stride]
			s2 += b[int(cols[2])*stride]
			s3 += b[int(cols[3])*stride]
			cols = cols[4:]
		}
		for _, c := range cols {
			s0 += b[int(c)*stride]
		}
	default:
		for len(cols) >= 4 && len(v) >= 4 {
			s0 += v[0] * b[int(cols[0])*stride]
			s1 += v[1] * b[int(cols[1])*stride]
			s2 += v[2] * b[int(cols[2])*stride]
			s3 += v[3] * b[int(cols[3])*stride]
			cols, v = cols[4:], v[4:]
		}
		for j, c := range cols {
			s0 += v[j] * b[int(c)*stride]
		}
	}
	return (s0 + s1) + (s2 + s3)
}
