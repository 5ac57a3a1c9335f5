package als

import (
	"context"
	"math"
	"slices"
	"testing"

	"sddmmkit/dataset"
	"sddmmkit/factors"
	"sddmmkit/internal/realdata"
	"sddmmkit/sparse"
)

func csr[T sparse.Float](t testing.TB, s *dataset.Set[T], dup sparse.Duplicates) *sparse.CSR[T] {
	t.Helper()
	m, err := sparse.FromCOO(s.COO, sparse.BuildOptions{Duplicates: dup})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read[T sparse.Float](t testing.TB, elem ...string) *dataset.Set[T] {
	t.Helper()
	s, err := dataset.Read[T](context.Background(), realdata.Path(t, elem...), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func split[T sparse.Float](t testing.TB, s *dataset.Set[T], fraction float64, seed uint64) (training, test *sparse.CSR[T]) {
	t.Helper()
	a, b, err := dataset.SplitRandom(s, fraction, seed)
	if err != nil {
		t.Fatal(err)
	}
	return csr(t, a, sparse.ErrorOnDuplicates), csr(t, b, sparse.ErrorOnDuplicates)
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
	set, _, err := dataset.PlantedRatings[float32](context.Background(), dataset.PlantedOptions{
		Users: 1500, Items: 800, NNZ: 240_000, Rank: 4, Noise: 0.25, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	training, test := split(t, set, 0.1, 1)
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Lambda, opt.Iterations = 4, 0.002, 20
	got := rmse(t, train(t, 2, training, opt).Model, test)
	// Least squares with K(M+N) parameters from nnz ratings raises the error by the factor
	// sqrt(1 + K(M+N)/nnz) = 1.02 for evenly spread ratings; skewed ones cost more.
	if got < 0.24 || got > 0.25*1.08 {
		t.Errorf("test RMSE %.4f with planted noise 0.25", got)
	}
}

// ML-100K, random 90/10, K = 32, λ = 0.1, 15 iterations.
func TestMovieLens100K(t *testing.T) {
	if testing.Short() {
		t.Skip("ten trainings of fifteen iterations")
	}
	set := read[float32](t, "movielens-100k", "u.data.gz")
	var plain, biased []float64
	for seed := range uint64(5) {
		training, test := split(t, set, 0.1, seed+1)
		opt := DefaultOptions[float32]()
		plain = append(plain, rmse(t, train(t, 2, training, opt).Model, test))
		opt.Biases = true
		biased = append(biased, rmse(t, train(t, 2, training, opt).Model, test))
	}
	t.Logf("test RMSE on five splits: %.4f, with biases %.4f", plain, biased)
	if m := slices.Max(plain); m > 0.934 {
		t.Errorf("test RMSE %.4f, want at most 0.934 on every split", m)
	}
	slices.Sort(biased)
	if m := biased[2]; m > 0.915 {
		t.Errorf("median test RMSE with biases %.4f, want at most 0.915", m)
	}
}

// The default number of steps loses at most 0.003 in test RMSE against steps to convergence.
func TestDefaultStepsAreEnough(t *testing.T) {
	if testing.Short() {
		t.Skip("trainings to convergence")
	}
	set := read[float64](t, "movielens-100k", "u.data.gz")
	training, test := split(t, set, 0.1, 1)
	for _, biases := range []bool{false, true} {
		opt := DefaultOptions[float64]()
		opt.Biases = biases
		few := rmse(t, train(t, 2, training, opt).Model, test)
		opt.CGSteps, opt.CGTol = 100, 1e-12
		exact := rmse(t, train(t, 2, training, opt).Model, test)
		t.Logf("biases %v: test RMSE %.5f with %d steps, %.5f with exact solves", biases, few, DefaultOptions[float64]().CGSteps, exact)
		if math.Abs(few-exact) > 0.003 {
			t.Errorf("biases %v: test RMSE %.5f with default steps, %.5f with exact solves", biases, few, exact)
		}
	}
}

// Last.fm, implicit: play counts, 20 % of each user's artists held out at random.
func TestLastFM(t *testing.T) {
	if testing.Short() {
		t.Skip("a ranking of all items for every user")
	}
	set := read[float32](t, "lastfm-hetrec2011", "user_artists.dat.gz")
	for z, plays := range set.COO.Val { // counts run over five orders of magnitude
		set.COO.Val[z] = float32(math.Log1p(float64(plays)))
	}
	training, test := split(t, set, 0.2, 1)
	opt := DefaultOptions[float32]()
	opt.Implicit, opt.Alpha, opt.Lambda = true, 4, 20
	m := train(t, 2, training, opt).Model
	evaluate := func(r factors.Ranker) factors.Ranking {
		e, err := factors.Evaluate(context.Background(), r, &training.Pattern, &test.Pattern, factors.EvaluateOptions{N: 20})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	popular, err := factors.NewPopularity(&training.Pattern, nil)
	if err != nil {
		t.Fatal(err)
	}
	als, base := evaluate(m), evaluate(popular)
	t.Logf("Recall@20 %.4f, NDCG@20 %.4f; by popularity %.4f, %.4f", als.Recall, als.NDCG, base.Recall, base.NDCG)
	if als.Recall < 2*base.Recall || als.NDCG < 2*base.NDCG {
		t.Error("implicit ALS is less than twice as good as popularity")
	}
}

// On real ratings, too, the bits do not depend on the number of threads.
func TestMovieLensSameBits(t *testing.T) {
	training, _ := split(t, read[float32](t, "movielens-100k", "u.data.gz"), 0.1, 1)
	opt := DefaultOptions[float32]()
	opt.Iterations = 3
	a, b := train(t, 1, training, opt).Model, train(t, 4, training, opt).Model
	if !slices.Equal(a.Users.Data, b.Users.Data) || !slices.Equal(a.Items.Data, b.Items.Data) {
		t.Error("4 threads give other bits than 1")
	}
}
