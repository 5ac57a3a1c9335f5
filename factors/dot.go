package factors

import "sddmmkit/dense"

// dot returns ⟨a, b⟩ in float64, in four partial sums so that one addition need not wait for
// the one before. Both have the same length. Every score of the package comes from here with the
// order of the sums below, so that a pair has the same score, bit for bit, wherever it is asked for.
func dot[A, B dense.Float](a []A, b []B) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		s0 += float64(x[4]) * float64(y[4])
		s1 += float64(x[5]) * float64(y[5])
		s2 += float64(x[6]) * float64(y[6])
		s3 += float64(x[7]) * float64(y[7])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
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
