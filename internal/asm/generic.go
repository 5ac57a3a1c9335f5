package asm

// generic returns the loops in Go.
func generic[T Float]() Kernels[T] { return Kernels[T]{SDDMM: sddmmGeneric[T], SpMM: spmmGeneric[T]} }

func sddmmGeneric[T Float](p, s, a, b []T, stride int, cols []int32, op Op, alpha, beta T) {
	for j := range p {
		var d T
		if op&Continue != 0 {
			d = p[j]
		}
		row := b[int(cols[j])*stride:][:len(a)]
		for lo := 0; lo < len(a); lo += Slice {
			hi := min(lo+Slice, len(a))
			d += dot(a[lo:hi], row[lo:hi])
		}
		if op&Partial == 0 {
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
		}
		p[j] = d
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

func spmmGeneric[T Float](c, v, b []T, stride int, cols []int32, n int, alpha T, fresh bool) {
	if fresh {
		clear(c)
	}
	for j, col := range cols[:n] {
		x := alpha
		if v != nil {
			x *= v[j]
		}
		row := b[int(col)*stride:][:len(c)]
		for k := range c {
			c[k] += x * row[k]
		}
	}
}
