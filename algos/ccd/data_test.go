package ccd

import (
	"context"
	"slices"
	"testing"
	"unsafe"

	"sddmmkit/dataset"
	"sddmmkit/device/cpu"
	"sddmmkit/factors"
	"sddmmkit/internal/realdata"
	"sddmmkit/sparse"
)

func csr[T sparse.Float](t testing.TB, s *dataset.Set[T]) *sparse.CSR[T] {
	t.Helper()
	m, err := sparse.FromCOO(s.COO, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func movieLens[T sparse.Float](t testing.TB) *dataset.Set[T] {
	t.Helper()
	s, err := dataset.Read[T](context.Background(), realdata.Path(t, "movielens-100k", "u.data.gz"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func split[T sparse.Float](t testing.TB, s *dataset.Set[T], seed uint64) (training, test *sparse.CSR[T]) {
	t.Helper()
	a, b, err := dataset.SplitRandom(s, 0.1, seed)
	if err != nil {
		t.Fatal(err)
	}
	return csr(t, a), csr(t, b)
}

func rmse[T sparse.Float](t testing.TB, m *factors.Model[T], test *sparse.CSR[T]) float64 {
	t.Helper()
	a, err := m.Accuracy(context.Background(), test, factors.AccuracyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a.RMSE
}

// Planted factors are found again: on held-out ratings the error comes down to the planted noise.
func TestPlantedFactors(t *testing.T) {
	if testing.Short() {
		t.Skip("thirty iterations over 240 000 ratings")
	}
	set, _, err := dataset.PlantedRatings[float32](context.Background(), dataset.PlantedOptions{
		Users: 1500, Items: 800, NNZ: 240_000, Rank: 4, Noise: 0.25, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	training, test := split(t, set, 1)
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Lambda, opt.Iterations = 4, 0.002, 30
	got := rmse(t, train(t, 2, training, opt).Model, test)
	// Least squares with K(M+N) parameters from nnz ratings raises the error by the factor
	// sqrt(1 + K(M+N)/nnz) = 1.02 for evenly spread ratings; skewed ones cost more.
	if got < 0.24 || got > 0.25*1.08 {
		t.Errorf("test RMSE %.4f with planted noise 0.25", got)
	}
}

// ML-100K, random 90/10, K = 32, λ = 0.1, 20 iterations.
func TestMovieLens100K(t *testing.T) {
	if testing.Short() {
		t.Skip("nine trainings of twenty iterations")
	}
	set := movieLens[float32](t)
	var plain, one, biased []float64
	for seed := range uint64(3) {
		training, test := split(t, set, seed+1)
		opt := DefaultOptions[float32]()
		plain = append(plain, rmse(t, train(t, 2, training, opt).Model, test))
		opt.Biases = true
		biased = append(biased, rmse(t, train(t, 2, training, opt).Model, test))
		opt.Biases, opt.InnerSteps = false, 1
		one = append(one, rmse(t, train(t, 2, training, opt).Model, test))
	}
	t.Logf("test RMSE on three splits: %.4f, with one inner step %.4f, with biases %.4f", plain, one, biased)
	if m := max(slices.Max(plain), slices.Max(one)); m > 0.945 {
		t.Errorf("test RMSE %.4f, want at most 0.945 on every split", m)
	}
	if m := slices.Max(biased); m > 0.925 {
		t.Errorf("test RMSE with biases %.4f, want at most 0.925 on every split", m)
	}
}

// On real ratings, too, the bits do not depend on the number of threads.
func TestMovieLensSameBits(t *testing.T) {
	training, _ := split(t, movieLens[float32](t), 1)
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Iterations = 8, 1
	a, b := train(t, 1, training, opt).Model, train(t, 4, training, opt).Model
	if !slices.Equal(a.Users.Data, b.Users.Data) || !slices.Equal(a.Items.Data, b.Items.Data) {
		t.Error("4 threads give other bits than 1")
	}
}

// BenchmarkIteration times one iteration with the default options: on ML-100K, whose residuals stay in
// the caches, and on a generated set whose residuals do not.
func BenchmarkIteration(b *testing.B) {
	b.Run("MovieLens100K/float32", func(b *testing.B) {
		training, _ := split(b, movieLens[float32](b), 1)
		iteration(b, training)
	})
	b.Run("MovieLens100K/float64", func(b *testing.B) {
		training, _ := split(b, movieLens[float64](b), 1)
		iteration(b, training)
	})
	b.Run("Planted10M/float32", func(b *testing.B) {
		set, _, err := dataset.PlantedRatings[float32](context.Background(), dataset.PlantedOptions{
			Users: 70_000, Items: 10_000, NNZ: 10_000_000, Rank: 8, Noise: 0.5, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		iteration(b, csr(b, set))
	})
}

func iteration[T sparse.Float](b *testing.B, training *sparse.CSR[T]) {
	opt := DefaultOptions[T]()
	s, err := newSolver(cpu.New(0), training, opt)
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	for b.Loop() {
		if err := s.Iterate(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	// Per non-zero and factor, as the package comment counts: two residuals read and written, and for each
	// inner step and side a product that reads values and one that does not, each with a column index.
	value, index, steps := float64(unsafe.Sizeof(T(0))), 4.0, float64(opt.InnerSteps)
	bytes := 2*(2*value+index) + 2*steps*(value+2*index)
	flops := 2*2*4 + 2*steps*4.0
	updates := float64(training.NNZ()) * float64(opt.Rank) * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(updates*bytes, "GB/s")
	b.ReportMetric(updates*flops, "GFLOP/s")
}
