package asm

import "math"

// CG are the loops of conjugate gradients with a diagonal preconditioner, for one row of a dense matrix. Rows have the length of x.
// Both add up in the same order, in float64.
type CG[T Float] struct {
	// Start sets r −= shift·x, d = 1/(d + shift), or 0 where that is not positive, and p = d∘r. It returns ⟨r, p⟩ and,
	// over the elements where d is positive, ⟨x, x/d⟩.
	Start func(x, r, p, d []T, shift T) (rz, scale float64)

	// Step sets q += shift·p and takes a step of length rz/⟨p, q⟩ from x along p: r and p become the next residual and
	// direction, and the next rz is returned. It does nothing else and returns false where ⟨p, q⟩ is not positive and finite.
	Step func(x, r, p, q, d []T, shift T, rz float64) (next float64, ok bool)
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

func stepGeneric[T Float](x, r, p, q, d []T, shift T, rz float64) (next float64, ok bool) {
	r, p, q, d = r[:len(x)], p[:len(x)], q[:len(x)], d[:len(x)]
	var pq float64
	for k, v := range p {
		q[k] += shift * v
		pq += float64(v) * float64(q[k])
	}
	if !curved(pq) {
		return 0, false
	}
	alpha := T(rz / pq)
	for k, v := range p {
		x[k] += alpha * v
		r[k] -= alpha * q[k]
		next += float64(r[k]) * float64(d[k]*r[k])
	}
	beta := T(next / rz)
	for k, v := range p {
		p[k] = d[k]*r[k] + beta*v
	}
	return next, true
}

// curved reports whether there is a step along p, given ⟨p, A·p⟩.
func curved(pq float64) bool { return pq > 0 && !math.IsInf(pq, 0) }
