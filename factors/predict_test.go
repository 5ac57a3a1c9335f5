package factors

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/sparse"
)

func TestPredict(t *testing.T) {
	t.Run("float32", testPredict[float32])
	t.Run("float64", testPredict[float64])
}

func testPredict[T dense.Float](t *testing.T) {
	for _, rank := range []int{1, 2, 3, 4, 5, 7, 8, 9, 31, 64} {
		for _, biased := range []bool{true, false} {
			m := randomModel[T](5, 7, rank, uint64(rank))
			if !biased {
				m.Mean, m.UserBias, m.ItemBias = 0, nil, nil
			}
			scores := make([]float64, 7)
			for u := range 5 {
				if err := m.ScoreUser(u, scores); err != nil {
					t.Fatal(err)
				}
				for i := range 7 {
					got, want := m.Predict(u, i), slowScore(m, u, i)
					if e := math.Abs(got - want); !(e <= scoreBound(m, u, i)) {
						t.Errorf("K=%d: score (%d,%d) = %v, want %v", rank, u, i, got, want)
					}
					if scores[i] != got {
						t.Errorf("K=%d: ScoreUser(%d)[%d] = %v, Predict says %v", rank, u, i, scores[i], got)
					}
				}
			}
		}
	}
}

// Small integers have no rounding: the score must be exact, also in float32.
func TestPredictExact(t *testing.T) {
	m := &Model[float32]{Rank: 5, Mean: 1, UserBias: []float32{2}, ItemBias: []float32{-4},
		Users: dense.Matrix[float32]{Rows: 1, Cols: 5, Stride: 5, Data: []float32{1, -2, 3, -4, 5}},
		Items: dense.Matrix[float32]{Rows: 1, Cols: 5, Stride: 5, Data: []float32{6, 7, 8, 9, 10}}}
	if got := m.Predict(0, 0); got != 1+2-4+6-14+24-36+50 {
		t.Errorf("score %v, want 29", got)
	}
}

func TestPredictAll(t *testing.T) {
	m := randomModel[float32](300, 200, 6, 3)
	p := randomPattern(300, 200, 0.4, 3) // more than one unit of work
	for r := 17; r < 40; r++ {           // empty rows
		n := p.RowPtr[r+1] - p.RowPtr[r]
		p.ColIdx = slices.Delete(p.ColIdx, int(p.RowPtr[r]), int(p.RowPtr[r+1]))
		for q := r + 1; q <= 300; q++ {
			p.RowPtr[q] -= n
		}
	}
	if err := p.Validate(); err != nil || units(p.NNZ()) < 2 {
		t.Fatal(err, units(p.NNZ()))
	}
	ctx := context.Background()
	for _, threads := range []int{0, 1, 2, 7} {
		got := make([]float32, p.NNZ())
		if err := m.PredictAll(ctx, p, got, threads); err != nil {
			t.Fatal(err)
		}
		for u := range 300 {
			for at := p.RowPtr[u]; at < p.RowPtr[u+1]; at++ {
				if want := float32(m.Predict(u, int(p.ColIdx[at]))); got[at] != want {
					t.Fatalf("%d threads: prediction %d of user %d is %v, want %v", threads, at, u, got[at], want)
				}
			}
		}
	}
}

func TestPredictErrors(t *testing.T) {
	ctx := context.Background()
	m := randomModel[float64](3, 4, 2, 1)
	for _, at := range [][2]int{{-1, 0}, {3, 0}, {0, -1}, {0, 4}} {
		mustPanic(t, func() { m.Predict(at[0], at[1]) })
	}
	wantError(t, m.ScoreUser(3, make([]float64, 4)), "user 3", "3 users")
	wantError(t, m.ScoreUser(-1, make([]float64, 4)), "user -1")
	wantError(t, m.ScoreUser(0, make([]float64, 3)), "3 scores", "4 items")

	p := randomPattern(3, 4, 0.9, 1)
	dst := make([]float64, p.NNZ())
	wantError(t, m.PredictAll(ctx, p, dst[1:], 1), "one element per non-zero")
	wantError(t, m.PredictAll(ctx, randomPattern(4, 3, 1, 1), dst, 1), "pattern 4×3", "3 users")
	bad := *p
	bad.ColIdx = slices.Clone(p.ColIdx)
	bad.ColIdx[1] = 4
	wantError(t, m.PredictAll(ctx, &bad, dst, 1), "column 4")
	bad = *p
	bad.RowPtr = []int64{1, 2, 5, p.NNZ()}
	wantError(t, m.PredictAll(ctx, &bad, dst, 1), "not in order")
	bad.RowPtr = []int64{0, 2, p.NNZ()}
	wantError(t, m.PredictAll(ctx, &bad, dst, 1), "3 row pointers")

	m.Rank = 3
	wantError(t, m.ScoreUser(0, make([]float64, 4)), "rank 3")
	wantError(t, m.PredictAll(ctx, p, dst, 1), "rank 3")

	m = randomModel[float64](3, 4, 2, 1)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := m.PredictAll(done, p, dst, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestPredictNothing(t *testing.T) {
	ctx := context.Background()
	m := randomModel[float64](0, 0, 3, 1)
	if err := m.PredictAll(ctx, &sparse.Pattern{RowPtr: []int64{0}}, nil, 0); err != nil {
		t.Error(err)
	}
	m = randomModel[float64](2, 0, 3, 1)
	if err := m.ScoreUser(1, nil); err != nil {
		t.Error(err)
	}
}

func TestClamp(t *testing.T) {
	m := &Model[float32]{Low: 1, High: 5}
	for in, want := range map[float64]float64{-3: 1, 1: 1, 2.5: 2.5, 7: 5} {
		if got := m.Clamp(in); got != want {
			t.Errorf("Clamp(%v) = %v, want %v", in, got, want)
		}
	}
	if m.Low, m.High = 0, 0; m.Clamp(-9) != -9 {
		t.Error("a model without a scale clamps")
	}
}
