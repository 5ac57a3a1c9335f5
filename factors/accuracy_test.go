package factors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// By hand: predictions 1·2 = 2, 1·4 = 4, 3·2 = 6, 3·4 = 12.
func TestAccuracyByHand(t *testing.T) {
	m := &Model[float64]{Rank: 1, Low: 1, High: 5,
		Users: dense.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 3}},
		Items: dense.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{2, 4}}}
	test := &sparse.CSR[float64]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 3}, ColIdx: []int32{1, 0, 1}},
		Val:     []float64{3, 5, 4}, // errors −1, −1, −8; clamped −1, 0, −1
	}
	got, err := m.Accuracy(bg, test, AccuracyOptions{})
	if want := (Accuracy{RMSE: math.Sqrt(66. / 3), MAE: 10. / 3, Count: 3}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	got, err = m.Accuracy(bg, test, AccuracyOptions{Clamp: true})
	if want := (Accuracy{RMSE: math.Sqrt(2. / 3), MAE: 2. / 3, Count: 3}); err != nil || got != want {
		t.Errorf("clamped: %+v, %v; want %+v", got, err, want)
	}
}

// The oracle is the loop over all triplets; CSR and COO agree, for any number of threads.
func TestAccuracy(t *testing.T) {
	m := randomModel[float32](150, 400, 5, 2)
	p := randomPattern(150, 400, 0.5, 2)
	rng := rand.New(rand.NewPCG(2, 2))
	csr := &sparse.CSR[float32]{Pattern: *p}
	coo := &sparse.COO[float32]{Rows: 150, Cols: 400}
	var square, abs float64
	for u := range 150 {
		for _, i := range p.Row(u) {
			r := float32(rng.NormFloat64())
			csr.Val = append(csr.Val, r)
			coo.Row, coo.Col, coo.Val = append(coo.Row, int32(u)), append(coo.Col, i), append(coo.Val, r)
			e := float64(r) - slowScore(m, u, int(i))
			square += e * e
			abs += math.Abs(e)
		}
	}
	count := p.NNZ()
	if units(count) < 3 {
		t.Fatal("want several units of work")
	}
	first, err := m.Accuracy(bg, csr, AccuracyOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Sums of 3·10⁴ positive terms in another order agree to 3·10⁴ roundings.
	tol := float64(count) * 0x1p-53
	if want := math.Sqrt(square / float64(count)); math.Abs(first.RMSE-want) > tol*want {
		t.Errorf("RMSE %v, want %v", first.RMSE, want)
	}
	if want := abs / float64(count); math.Abs(first.MAE-want) > tol*want || first.Count != count {
		t.Errorf("MAE %v of %d, want %v of %d", first.MAE, first.Count, want, count)
	}
	for _, threads := range []int{0, 2, 5} {
		a, err := m.Accuracy(bg, csr, AccuracyOptions{Threads: threads})
		if err != nil || a != first {
			t.Errorf("%d threads: %v, %v; want %v", threads, a, err, first)
		}
		b, err := m.AccuracyCOO(bg, coo, AccuracyOptions{Threads: threads})
		if err != nil || b != first {
			t.Errorf("COO, %d threads: %v, %v; want %v", threads, b, err, first)
		}
	}
}

func TestAccuracyErrors(t *testing.T) {
	m := randomModel[float64](3, 4, 2, 1)
	opt := AccuracyOptions{}
	csr := &sparse.CSR[float64]{Pattern: *randomPattern(3, 4, 2, 1), Val: make([]float64, 12)}
	csrError := func(c *sparse.CSR[float64]) error { _, err := m.Accuracy(bg, c, opt); return err }
	cooError := func(c *sparse.COO[float64]) error { _, err := m.AccuracyCOO(bg, c, opt); return err }

	wantError(t, csrError(&sparse.CSR[float64]{Pattern: *randomPattern(4, 3, 1, 1)}), "test ratings 4×3", "3 users")
	wantError(t, csrError(&sparse.CSR[float64]{Pattern: csr.Pattern, Val: csr.Val[1:]}), "11 test ratings", "12 non-zeros")
	none := sparse.Pattern{Rows: 3, Cols: 4, RowPtr: make([]int64, 4)}
	wantError(t, csrError(&sparse.CSR[float64]{Pattern: none}), "no test ratings")
	wantError(t, cooError(&sparse.COO[float64]{Rows: 3, Cols: 4}), "no test ratings")
	wantError(t, cooError(&sparse.COO[float64]{Rows: 3, Cols: 5}), "3×5", "4 items")
	wantError(t, cooError(&sparse.COO[float64]{Rows: 3, Cols: 4, Val: make([]float64, 2)}), "0 rows", "2 values")
	one := func(r, c int32) *sparse.COO[float64] {
		return &sparse.COO[float64]{Rows: 3, Cols: 4, Row: []int32{r}, Col: []int32{c}, Val: []float64{1}}
	}
	for _, at := range [][2]int32{{-1, 0}, {3, 0}, {0, -1}, {0, 4}} {
		wantError(t, cooError(one(at[0], at[1])), "test rating 0", "3×4")
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := m.Accuracy(ctx, csr, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := m.AccuracyCOO(ctx, one(0, 0), opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	m.Rank = 9
	wantError(t, csrError(csr), "rank 9")
	wantError(t, cooError(one(0, 0)), "rank 9")
}
