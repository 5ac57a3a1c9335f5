package sddmm_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"sddmmkit/dense"
	"sddmmkit/device/cpu"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// randomCSR has about share of all positions, in rows that are not sorted.
func randomCSR(rng *rand.Rand, rows, cols int, share float64) *sparse.CSR[float64] {
	s := &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for i := range rows {
		for _, j := range rng.Perm(cols) {
			if rng.Float64() < share {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, rng.NormFloat64())
			}
		}
		s.RowPtr[i+1] = int64(len(s.Val))
	}
	return s
}

func randomDense(rng *rand.Rand, rows, cols int) dense.Matrix[float64] {
	m := dense.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// The reference itself, and the CPU path, against the whole product A·Bᵀ by gonum.
func TestAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range []struct{ m, n, k int }{{1, 1, 1}, {20, 30, 1}, {30, 20, 7}, {60, 50, 64}, {5, 300, 129}} {
		s := randomCSR(rng, size.m, size.n, 0.3)
		a, b := randomDense(rng, size.m, size.k), randomDense(rng, size.n, size.k)
		var whole, sizes mat.Dense
		am, bm := mat.NewDense(size.m, size.k, a.Data), mat.NewDense(size.n, size.k, b.Data)
		whole.Mul(am, bm.T())
		abs := func(_, _ int, v float64) float64 { return math.Abs(v) }
		var aa, ba mat.Dense
		aa.Apply(abs, am)
		ba.Apply(abs, bm)
		sizes.Mul(&aa, ba.T())

		for _, f := range []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual} {
			got := make([]float64, s.NNZ())
			if err := sddmm.Compute(context.Background(), cpu.New(2), f, 1, s, a, b, 0, got); err != nil {
				t.Fatal(err)
			}
			reference, _ := sddmm.Reference(f, 1, s, a, b, 0, nil)
			for i := range s.Rows {
				for z := s.RowPtr[i]; z < s.RowPtr[i+1]; z++ {
					j, v := int(s.ColIdx[z]), s.Val[z]
					d, mag := whole.At(i, j), sizes.At(i, j)
					want, size := d, mag
					switch f {
					case sddmm.Scale:
						want, size = v*d, math.Abs(v)*mag
					case sddmm.Residual:
						want, size = v-d, math.Abs(v)+mag
					}
					// K+1 roundings here and as many in gonum.
					bound := 2 * float64(a.Cols+1) * 0x1p-53 * size * 1.001
					if math.Abs(got[z]-want) > bound || math.Abs(reference[z]-want) > bound {
						t.Fatalf("%v %+v at (%d,%d): %v and reference %v, want %v within %.3g", f, size, i, j, got[z], reference[z], want, bound)
					}
				}
			}
		}
	}
}

func TestEpilogueString(t *testing.T) {
	for want, f := range map[string]sddmm.Epilogue{"dot": sddmm.Dot, "scale": sddmm.Scale, "residual": sddmm.Residual, "quotient": sddmm.Quotient, "epilogue(9)": 9} {
		if f.String() != want {
			t.Errorf("%q, want %q", f.String(), want)
		}
	}
}
