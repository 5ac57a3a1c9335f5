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

			// A row for each end of a step, among rows that are done, with strides of their own.
			var pq float64
			for i := range p {
				q[i] *= p[i] // curvature is positive
				pq += float64(p[i] * (q[i] + 2*p[i]))
			}
			d = draw(n, 0.25, 0.5, 2)
			inf, nan := math.Inf(1), math.NaN()
			cases := []struct {
				curvature, shift, rz, stop float64
			}{{1, 2, 4, 0}, {1, 2, -1, 0}, {-1, 2, 4, 0}, {inf, 2, 4, 0}, {nan, 2, 4, 0}, {0, 2, 4, 0}, {1, 1, 2, 1e-9}, {1, 2, 4, inf}, {1, 2, 4, nan}, {1, 2, nan, 0}, {1, 2, 4, 0}}
			operands := func() (m [5]Rows[T], shift []T, rz, stop []float64) {
				for o, values := range [][]T{x, r, p, q, d} {
					m[o] = Rows[T]{K: n, Stride: n + o, Data: make([]T, (n+o)*len(cases))}
					for i, c := range cases {
						row := m[o].Row(i)
						copy(row, values)
						if o == 3 {
							for j := range row {
								row[j] = (row[j]+2*p[j])*T(c.curvature) - T(c.shift)*p[j]
							}
						}
						for j := i*m[o].Stride + n; j < (i+1)*m[o].Stride; j++ {
							m[o].Data[j] = T(nan)
						}
					}
				}
				for _, c := range cases {
					shift, rz, stop = append(shift, T(c.shift)), append(rz, c.rz*pq), append(stop, c.stop)
				}
				for i, c := range cases {
					if c.rz < 0 {
						rz[i] = -1
					}
				}
				return m, shift, rz, stop
			}
			got, shift, rz, stop := operands()
			active := For[T]().CG.Step(got[0], got[1], got[2], got[3], got[4], shift, rz, stop)
			want, shift, wantRZ, stop := operands()
			wantActive := stepGeneric(want[0], want[1], want[2], want[3], want[4], shift, wantRZ, stop)
			if active != wantActive || n > 0 && active != 3 || n == 0 && active != 0 {
				t.Fatalf("%s: %d rows are active, want %d", what, active, wantActive)
			}
			for row, c := range cases {
				where := fmt.Sprintf("%s, row %d", what, row)
				if rz[row] != wantRZ[row] && (rz[row] == rz[row] || wantRZ[row] == wantRZ[row]) {
					t.Fatalf("%s: rz is %v, want %v", where, rz[row], wantRZ[row])
				}
				for o, name := range []string{"x", "r", "p", "q", "d"} {
					if name == "p" && rz[row] > 0 {
						beta := T(rz[row] / (c.rz * pq))
						for i, v := range want[2].Row(row) {
							// One rounding of the product and one of the sum, or one of both.
							z := float64(d[i] * got[1].Row(row)[i])
							if bound := unit*math.Abs(float64(beta*p[i])+z) + unit*math.Abs(float64(beta*p[i])); math.Abs(float64(got[2].Row(row)[i]-v)) > bound {
								t.Fatalf("%s: p[%d] is %v, want %v", where, i, got[2].Row(row)[i], v)
							}
						}
						continue
					}
					same(where+": "+name, got[o].Row(row), want[o].Row(row))
				}
				for o := range got {
					for j := row*got[o].Stride + n; j < (row+1)*got[o].Stride; j++ {
						if got[o].Data[j] == got[o].Data[j] {
							t.Fatalf("%s: what lies between rows of operand %d was written to", where, o)
						}
					}
				}
			}
		}
	}
}
