package als

import (
	"context"
	"slices"
	"testing"
	"time"

	"sddmmkit/dataset"
	"sddmmkit/device/cpu"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// BenchmarkIteration times one iteration of explicit ALS on ML-100K and on ten million generated ratings. After each
// iteration its SDDMMs and SpMMs are done once more, and nothing else: %primitives is the median of their share of the time.
func BenchmarkIteration(b *testing.B) {
	b.Run("MovieLens100K", func(b *testing.B) {
		training, _ := split(b, read[float32](b, "movielens-100k", "u.data.gz"), 0.1, 1)
		iteration(b, training, 32)
	})
	b.Run("Planted10M", func(b *testing.B) {
		set, err := dataset.Generate[float32](context.Background(), "ratings:70000x10000:10M:8:0.5", 0)
		if err != nil {
			b.Fatal(err)
		}
		iteration(b, csr(b, set, 0), 50)
	})
}

func iteration(b *testing.B, training *sparse.CSR[float32], rank int) {
	opt := DefaultOptions[float32]()
	opt.Rank, opt.CGTol = rank, 0 // all steps, as they are counted here
	s, err := newSolver(cpu.New(0), training, opt)
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	clock := func(do func(ctx context.Context) error) time.Duration {
		start := time.Now()
		if err := do(b.Context()); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	products := func(ctx context.Context) error {
		if err := s.users.products(ctx, opt.CGSteps); err != nil {
			return err
		}
		return s.items.products(ctx, opt.CGSteps)
	}
	for range 3 { // while plans try tiles
		clock(s.Iterate)
	}
	var shares []float64
	for b.Loop() {
		whole := clock(s.Iterate)
		b.StopTimer()
		shares = append(shares, float64(clock(products))/float64(whole))
		b.StartTimer()
	}
	slices.Sort(shares)
	b.ReportMetric(100*shares[len(shares)/2], "%primitives")
	// Per side: a residual and a diagonal, and six steps of one SDDMM and one SpMM each.
	flops := 2 * float64(training.NNZ()) * float64(rank) * 2 * (3 + 6*2)
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// products does the SDDMMs and SpMMs of solve for explicit feedback, when all steps are taken.
func (s *side[T]) products(ctx context.Context, steps int) error {
	y := s.y.Columns(s.cg.X.Cols)
	if err := s.residual(ctx, y); err != nil {
		return err
	}
	if err := s.mul.Run(ctx, spmm.NoTrans, 1, nil, s.square, 0, s.cg.D); err != nil {
		return err
	}
	for range steps {
		if err := s.operator(ctx, y); err != nil {
			return err
		}
	}
	return nil
}
