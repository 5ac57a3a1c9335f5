package factors

import "sddmmkit/dense"

// dot returns ⟨a, b⟩ in float64, in four partial sums so that one addition need not wait for
// the one before. Both have the same length. Every score of the package comes from here with the
// order of the sums below, so that a pair has the same score, bit for bit, wherever it is asked for.
func dot[A, B dense.Float](a []A, b []B) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0]) * float64(b[0])
		s1 += float64(a[1]) * float64(b[1])
		s2 += float64(a[2]) * float64(b[2])
		s3 += float64(a[3]) * float64(b[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += float64(v) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// toFloat64 writes src to dst, of the same length.
func toFloat64[T dense.Float](dst []float64, src []T) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = float64(v)
	}
}
