package asm

import "math"

// CG are the loops of conjugate gradients with a diagonal preconditioner for the rows of dense matrices. They add up in float64.
type CG[T Float] struct {
	// Start begins with one row: it sets r −= shift·x, d = 1/(d + shift), or 0 where that is not positive, and p = d∘r. It
	// returns ⟨r, p⟩ and, over the elements where d is positive, ⟨x, x/d⟩. All have the length of x.
	Start func(x, r, p, d []T, shift T) (rz, scale float64)

	// Step takes a step with every row i, of as many as rz has elements, whose rz[i] is not negative: with q + shift[i]·p in
	// the place of q it goes rz[i]/⟨p, q⟩ from x along p, after which r and p are the next residual and direction, and rz[i] the next ⟨r, d∘r⟩.
	// A row is done where ⟨p, q⟩ is not positive and finite, which leaves x and r, and where the next rz[i] is not finite and
	// above stop[i]: then rz[i] is −1 and p zero. It returns the number of rows that are not done. All matrices have the K of x.
	Step func(x, r, p, q, d Rows[T], shift []T, rz, stop []float64) (active int)
}

func startGeneric[T Float](x, r, p, d []T, shift T) (rz, scale float64) {
	r, p, d = r[:len(x)], p[:len(x)], d[:len(x)]
	for k, v := range d {
		v += shift
		if v > 0 {
			scale += float64(x[k]) * float64(x[k]) * float64(v)
			d[k] = 1 / v
		} else {
			d[k] = 0
		}
		r[k] -= shift * x[k]
		p[k] = d[k] * r[k]
		rz += float64(r[k]) * float64(p[k])
	}
	return rz, scale
}

func stepGeneric[T Float](x, r, p, q, d Rows[T], shift []T, rz, stop []float64) (active int) {
	for i, was := range rz {
		if !(was >= 0) {
			continue
		}
		next := stepRow(x.Row(i), r.Row(i), p.Row(i), q.Row(i), d.Row(i), shift[i], was)
		if Settle(&rz[i], next, stop[i], p.Row(i)) {
			active++
		}
	}
	return active
}

// Settle ends the start or a step of a row, whose ⟨r, d∘r⟩ is next. The row goes on where that is finite and above stop; otherwise
// its rz becomes −1 and p zero. It reports whether the row goes on.
func Settle[T Float](rz *float64, next, stop float64, p []T) bool {
	if next > stop && !math.IsInf(next, 0) {
		*rz = next
		return true
	}
	*rz = -1
	clear(p)
	return false
}

// stepRow takes the step of one row. It returns the next ⟨r, d∘r⟩, or −1 where there is no step.
func stepRow[T Float](x, r, p, q, d []T, shift T, rz float64) (next float64) {
	r, p, q, d = r[:len(x)], p[:len(x)], q[:len(x)], d[:len(x)]
	var pq float64
	for k, v := range p {
		pq += float64(v) * float64(q[k]+shift*v)
	}
	if !(pq > 0) || math.IsInf(pq, 0) {
		return -1
	}
	alpha := T(rz / pq)
	for k, v := range p {
		x[k] += alpha * v
		r[k] -= alpha * (q[k] + shift*v)
		next += float64(r[k]) * float64(d[k]*r[k])
	}
	beta := T(next / rz)
	for k, v := range p {
		p[k] = d[k]*r[k] + beta*v
	}
	return next
}
