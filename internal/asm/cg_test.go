package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCGAgainstGeneric(t *testing.T) {
	testCG[float32](t)
	testCG[float64](t)
}

// Numbers are such that nothing rounds but beta, which is the same quotient in both, and the direction made with it.
func testCG[T Float](t *testing.T) {
	for _, l := range levels(t) {
		use(t, l)
		rng := rand.New(rand.NewPCG(7, 8))
		draw := func(n int, of ...T) []T {
			v := make([]T, n)
			for i := range v {
				v[i] = of[rng.IntN(len(of))]
			}
			return v
		}
		unit := math.Nextafter(1, 2) - 1
		if _, single := any(T(0)).(float32); single {
			unit = float64(math.Nextafter32(1, 2) - 1)
		}
		for n := range 70 {
			what := fmt.Sprintf("%v %T, %d elements", l, T(0), n)
			x, r, p, q, d := draw(n, -3, -1, 0, 2), draw(n, -2, 1, 3), draw(n, -1, 1, 2), draw(n, 5, 7), draw(n, -5, -3, -2, -1, 0, 2, T(math.NaN()))
			same := func(operand string, got, want []T) {
				t.Helper()
				for i := range want {
					if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("%s: %s[%d] is %v, want %v", what, operand, i, got[i], want[i])
					}
				}
			}
			gotR, gotP, gotD := slices.Clone(r), slices.Clone(p), slices.Clone(d)
			sum, scale := For[T]().CG.Start(x, gotR, gotP, gotD, 2)
			wantR, wantP, wantD := slices.Clone(r), slices.Clone(p), slices.Clone(d)
			wantSum, wantScale := startGeneric(x, wantR, wantP, wantD, 2)
			same("r", gotR, wantR)
			same("d", gotD, wantD)
			same("p", gotP, wantP)
			if sum != wantSum || scale != wantScale {
				t.Fatalf("%s: Start returns %v and %v, want %v and %v", what, sum, scale, wantSum, wantScale)
			}

			var pq float64
			for i := range p {
				q[i] *= p[i] // curvature is positive
				pq += float64(p[i] * (q[i] + 2*p[i]))
			}
			d = draw(n, 0.25, 0.5, 2)
			for _, curvature := range []float64{1, -1, math.Inf(1), math.NaN(), 0} {
				q := slices.Clone(q)
				for i := range q {
					q[i] = (q[i]+2*p[i])*T(curvature) - 2*p[i]
				}
				gotX, gotR, gotP, gotQ := slices.Clone(x), slices.Clone(r), slices.Clone(p), slices.Clone(q)
				wantX, wantR, wantP, wantQ := slices.Clone(x), slices.Clone(r), slices.Clone(p), slices.Clone(q)
				got, ok := For[T]().CG.Step(gotX, gotR, gotP, gotQ, d, 2, 4*pq)
				want, wantOK := stepGeneric(wantX, wantR, wantP, wantQ, d, 2, 4*pq)
				if got != want || ok != wantOK || ok != (curvature == 1 && n > 0) {
					t.Fatalf("%s, curvature %v: Step returns %v, %v, want %v, %v", what, curvature, got, ok, want, wantOK)
				}
				same("q", gotQ, wantQ)
				same("x", gotX, wantX)
				same("r", gotR, wantR)
				beta := T(0)
				if ok {
					beta = T(want / (4 * pq))
				}
				for i := range p {
					// One rounding of the product and one of the sum, or one of both.
					if bound := unit*math.Abs(float64(beta*p[i])+float64(d[i]*gotR[i])) + unit*math.Abs(float64(beta*p[i])); math.Abs(float64(gotP[i]-wantP[i])) > bound {
						t.Fatalf("%s: p[%d] is %v, want %v", what, i, gotP[i], wantP[i])
					}
				}
			}
		}
	}
}
