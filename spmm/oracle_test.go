package spmm_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	jb "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"sddmmkit/dense"
	"sddmmkit/device/cpu"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// randomCSR has about share of all positions, by increasing column.
func randomCSR(rng *rand.Rand, rows, cols int, share float64) *sparse.CSR[float64] {
	s := &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for i := range rows {
		for j := range cols {
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

// The reference itself, and the CPU path, against gonum's product of dense matrices and
// james-bowman's of CSR and dense, both ways round.
func TestAgainstGonumAndJamesBowman(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, size := range []struct{ m, n, k int }{{1, 1, 1}, {20, 30, 1}, {30, 20, 7}, {60, 50, 64}, {3, 9000, 5}, {9000, 3, 5}} {
		s := randomCSR(rng, size.m, size.n, 0.3)
		ind, ptr := make([]int, len(s.ColIdx)), make([]int, len(s.RowPtr))
		for i, v := range s.ColIdx {
			ind[i] = int(v)
		}
		for i, v := range s.RowPtr {
			ptr[i] = int(v)
		}
		theirs := jb.NewCSR(size.m, size.n, ptr, ind, append([]float64(nil), s.Val...))
		whole := mat.DenseCopyOf(s)

		for _, op := range []spmm.Op{spmm.NoTrans, spmm.Trans} {
			from, to := size.n, size.m
			if op == spmm.Trans {
				from, to = to, from
			}
			b, c := randomDense(rng, from, size.k), randomDense(rng, to, size.k)
			bm := mat.NewDense(from, size.k, b.Data)
			const alpha = 0.7
			var left mat.Matrix = whole
			if op == spmm.Trans {
				left = whole.T()
			}
			var gonum, sizes mat.Dense
			gonum.Mul(left, bm)
			abs := func(_, _ int, v float64) float64 { return math.Abs(v) }
			var la, ba mat.Dense
			la.Apply(abs, left)
			ba.Apply(abs, bm)
			sizes.Mul(&la, &ba)
			// C = α·op(S)·B + C: what they compute without β.
			bowman := jb.MulMatMat(op == spmm.Trans, alpha, theirs, bm, mat.NewDense(to, size.k, c.Clone().Data))

			reference, _ := spmm.Reference(op, alpha, s, b, 1, c)
			got := c.Clone()
			if err := spmm.Compute(context.Background(), cpu.New(2), op, alpha, s, b, 1, got); err != nil {
				t.Fatal(err)
			}
			for i := range to {
				for j := range size.k {
					want := alpha*gonum.At(i, j) + c.At(i, j)
					// At most from+4 roundings here and as many in theirs.
					bound := 2 * float64(from+4) * 0x1p-53 * (alpha*sizes.At(i, j) + math.Abs(c.At(i, j))) * 1.001
					for who, v := range map[string]float64{"Compute": got.At(i, j), "Reference": reference[i*size.k+j], "james-bowman": bowman.At(i, j)} {
						if !(math.Abs(v-want) <= bound) {
							t.Fatalf("%+v, trans %t, (%d,%d): %s says %v, gonum %v, bound %.3g", size, op, i, j, who, v, want, bound)
						}
					}
				}
			}
		}
	}
}
