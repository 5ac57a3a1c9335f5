package als

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/factors"
	"sddmmkit/internal/conformance"
	"sddmmkit/sparse"
)

// variants are the models that ALS trains.
func variants[T sparse.Float](rank int) map[string]Options[T] {
	with := func(change func(*Options[T])) Options[T] {
		o := DefaultOptions[T]()
		o.Rank, o.Iterations = rank, 6
		change(&o)
		return o
	}
	return map[string]Options[T]{
		"weighted": with(func(o *Options[T]) {}),
		"plain":    with(func(o *Options[T]) { o.Regularization = fit.Plain; o.Lambda = 2 }),
		"mean":     with(func(o *Options[T]) { o.Mean = true }),
		"biases":   with(func(o *Options[T]) { o.Biases = true }),
		"both":     with(func(o *Options[T]) { o.Mean, o.Biases, o.BiasLambda = true, true, 0.3 }),
		"implicit": with(func(o *Options[T]) { o.Implicit, o.Alpha = true, 1 }),
		"implicit, alpha 3.5, weighted": with(func(o *Options[T]) {
			o.Implicit, o.Alpha, o.Regularization = true, 3.5, fit.Weighted
		}),
	}
}

// train runs Train on the CPU and checks that it leaks nothing.
func train[T sparse.Float](t testing.TB, threads int, r *sparse.CSR[T], opt Options[T]) *fit.Result[T] {
	t.Helper()
	dev := cpu.New(threads)
	res, err := Train(context.Background(), dev, r, opt)
	if err != nil {
		t.Fatal(err)
	}
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Fatalf("after training the device still holds %+v", u)
	}
	if err := res.Model.Validate(); err != nil {
		t.Fatal(err)
	}
	return res
}

// When conjugate gradients run to convergence, every iteration equals exact solves.
func TestEqualsCholesky(t *testing.T) {
	r := randomRatings[float64](t, 40, 30, 0.3, 1)
	for z := range r.Val { // a few dislikes; to explicit ALS they are ratings like any other
		if z%9 == 0 {
			r.Val[z] = -r.Val[z]
		}
	}
	for name, opt := range variants[float64](5) {
		t.Run(name, func(t *testing.T) {
			opt.CGSteps, opt.CGTol = 60, 0
			s, err := newSolver(cpu.New(2), r, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			want := exactFrom(t, s, r)
			for n := range 4 {
				if err := s.Iterate(context.Background()); err != nil {
					t.Fatal(err)
				}
				want.iterate(t)
				m, err := s.Model()
				if err != nil {
					t.Fatal(err)
				}
				// The systems' condition numbers stay below 1e5 here, and 1e5·u ≈ 1e-11;
				// alternating carries errors on from one iteration to the next.
				const bound = 1e-8
				worst := 0.0
				for u, x := range want.x {
					for k, v := range x {
						worst = max(worst, math.Abs(v-m.Users.At(u, k)))
					}
				}
				for i, y := range want.y {
					for k, v := range y {
						worst = max(worst, math.Abs(v-m.Items.At(i, k)))
					}
				}
				if opt.Biases {
					for u, b := range want.b {
						worst = max(worst, math.Abs(b-m.UserBias[u]))
					}
					for i, c := range want.c {
						worst = max(worst, math.Abs(c-m.ItemBias[i]))
					}
				}
				if !(worst < bound) {
					t.Fatalf("iteration %d: factors are %.2g from the exact solution, want < %.0g", n+1, worst, bound)
				}
			}
		})
	}
}

// The loss never rises, whatever the number of steps.
func TestLossNeverRises(t *testing.T) {
	r64, r32 := randomRatings[float64](t, 60, 50, 0.2, 2), randomRatings[float32](t, 60, 50, 0.2, 2)
	for _, steps := range []int{1, 2, 6} {
		for name, opt := range variants[float64](4) {
			opt.CGSteps, opt.Iterations = steps, 12
			checkFalling(t, fmt.Sprintf("%s float64 %d", name, steps), train(t, 2, r64, opt), 1e-12)
		}
		for name, opt := range variants[float32](4) {
			opt.CGSteps, opt.Iterations = steps, 12
			// Near the end an iteration gains less than float32 can tell.
			checkFalling(t, fmt.Sprintf("%s float32 %d", name, steps), train(t, 2, r32, opt), 1e-5)
		}
	}
}

func checkFalling[T sparse.Float](t *testing.T, name string, res *fit.Result[T], slack float64) {
	t.Helper()
	for n := 1; n < len(res.History); n++ {
		if was, is := res.History[n-1].Loss, res.History[n].Loss; is > was*(1+slack) {
			t.Errorf("%s: the loss rose from %v to %v in iteration %d", name, was, is, n+1)
		}
	}
	if first, last := res.History[0].Loss, res.History[len(res.History)-1].Loss; !(last < first) {
		t.Errorf("%s: the loss went from %v to %v", name, first, last)
	}
}

// The loss that Train reports is the formula's.
func TestLossIsTheFormula(t *testing.T) {
	r := randomRatings[float64](t, 25, 20, 0.3, 3)
	for name, opt := range variants[float64](3) {
		res := train(t, 1, r, opt)
		m, want := res.Model, 0.0
		weight := func(n int, lambda float64) float64 {
			if opt.Weighted(opt.Implicit) {
				return lambda * float64(n)
			}
			return lambda
		}
		rt := r.Transpose(1)
		for u := range r.Rows {
			for i := range r.Cols {
				v, p := r.At(u, i), m.Predict(u, i)
				switch {
				case opt.Implicit && v > 0:
					want += (1 + opt.Alpha*v) * (1 - p) * (1 - p)
				case opt.Implicit:
					want += p * p
				case v != 0:
					want += (v - p) * (v - p)
				}
			}
			n := len(r.Row(u))
			for _, f := range m.Users.Row(u) {
				want += weight(n, opt.Lambda) * f * f
			}
			if opt.Biases {
				want += weight(n, opt.LambdaOfBiases()) * m.UserBias[u] * m.UserBias[u]
			}
		}
		for i := range r.Cols {
			n := len(rt.Row(i))
			for _, f := range m.Items.Row(i) {
				want += weight(n, opt.Lambda) * f * f
			}
			if opt.Biases {
				want += weight(n, opt.LambdaOfBiases()) * m.ItemBias[i] * m.ItemBias[i]
			}
		}
		if got := res.BestRecord.Loss; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: loss %v, the formula says %v", name, got, want)
		}
	}
}

// The same seed gives the same bits for any number of threads, and another seed other ones.
func TestSameBits(t *testing.T) {
	r := randomRatings[float32](t, 300, 200, 0.2, 4)
	for name, opt := range variants[float32](8) {
		want := train(t, 1, r, opt).Model
		for _, threads := range []int{1, 2, 3, 8} {
			opt.Tune = threads > 2 // which is for GPUs alone
			got := train(t, threads, r, opt).Model
			if !slices.Equal(got.Users.Data, want.Users.Data) || !slices.Equal(got.Items.Data, want.Items.Data) ||
				!slices.Equal(got.UserBias, want.UserBias) || !slices.Equal(got.ItemBias, want.ItemBias) {
				t.Errorf("%s: %d threads give other bits than 1", name, threads)
			}
		}
		opt.Seed++
		if got := train(t, 2, r, opt).Model; slices.Equal(got.Users.Data, want.Users.Data) {
			t.Errorf("%s: another seed gives the same factors", name)
		}
	}
}

// Users and items without ratings get zero factors and biases, and everything stays finite at
// the odd sizes and values too.
func TestColdRowsAndOddSizes(t *testing.T) {
	one := &sparse.CSR[float32]{Pattern: sparse.Pattern{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}}, Val: []float32{3}}
	for _, r := range []*sparse.CSR[float32]{one, randomRatings[float32](t, 30, 25, 0.3, 5), randomRatings[float32](t, 3, 200, 0.3, 5)} {
		for _, rank := range []int{1, 3, 17} {
			for name, opt := range variants[float32](rank) {
				for _, lambda := range []float64{0, 0.1} {
					opt.Lambda = lambda
					m := train(t, 2, r, opt).Model
					for u := range r.Rows {
						if len(r.Row(u)) == 0 && !m.ColdUser(u) {
							t.Fatalf("%s: user %d has no ratings, and factors %v", name, u, m.Users.Row(u))
						}
					}
					rt := r.Transpose(1)
					for i := range r.Cols {
						if len(rt.Row(i)) == 0 && !m.ColdItem(i) {
							t.Fatalf("%s: item %d has no ratings, and factors %v", name, i, m.Items.Row(i))
						}
					}
				}
			}
		}
	}
}

// Folding in the ratings of a user gives the exact solution for the model's item factors.
func TestFoldIn(t *testing.T) {
	r := randomRatings[float64](t, 40, 30, 0.3, 6)
	for name, opt := range variants[float64](4) {
		m := train(t, 2, r, opt).Model
		dev := cpu.New(2)
		got, biases, err := FoldIn(context.Background(), dev, m, r)
		if err != nil {
			t.Fatal(err)
		}
		if dev.Usage() != (device.Usage{}) {
			t.Fatalf("after FoldIn the device still holds %+v", dev.Usage())
		}
		e := &exact{opt: opt, mean: m.Mean, x: make([][]float64, r.Rows), b: make([]float64, r.Rows), c: make([]float64, r.Cols)}
		for u := range e.x {
			e.x[u] = make([]float64, opt.Rank)
		}
		for i := range r.Cols {
			e.y = append(e.y, m.Items.Row(i))
			if opt.Biases {
				e.c[i] = m.ItemBias[i]
			}
		}
		e.solve(t, r, e.x, e.y, e.b, e.c)
		for u := range r.Rows {
			for k, v := range e.x[u] {
				if math.Abs(v-got.At(u, k)) > 1e-5 { // CGTol is 1e-7, relative
					t.Fatalf("%s: user %d folds in as %v, want %v", name, u, got.Row(u), e.x[u])
				}
			}
			if opt.Biases && math.Abs(biases[u]-e.b[u]) > 1e-5 {
				t.Fatalf("%s: user %d has bias %v, want %v", name, u, biases[u], e.b[u])
			}
		}
	}
}

// After an interruption training does little more, and ends with a usable model.
func TestInterrupt(t *testing.T) {
	r := randomRatings[float32](t, 2000, 1500, 0.3, 7)
	for _, biases := range []bool{false, true} {
		opt := DefaultOptions[float32]()
		opt.Rank, opt.Iterations, opt.Biases = 64, 1000, biases
		dev := cpu.New(2)
		ctx, since := conformance.Interrupt(t.Context(), 300*time.Millisecond)
		res, err := Train(ctx, dev, r, opt)
		worked := since()
		if !errors.Is(err, context.Canceled) || res == nil || res.Stopped != fit.Interrupted {
			t.Fatalf("interrupted training returned %+v, %v", res, err)
		}
		if worked > 500*time.Millisecond {
			t.Errorf("training went on to work for %v after the interruption", worked)
		}
		if err := res.Model.Validate(); err != nil {
			t.Error(err)
		}
		if dev.Usage() != (device.Usage{}) {
			t.Errorf("the device still holds %+v", dev.Usage())
		}
	}
}

func TestBadOptions(t *testing.T) {
	r := randomRatings[float32](t, 10, 10, 0.5, 8)
	empty := &sparse.CSR[float32]{Pattern: sparse.Pattern{Rows: 2, Cols: 2, RowPtr: []int64{0, 0, 0}}}
	nan := randomRatings[float32](t, 10, 10, 0.5, 8)
	nan.Val[3] = float32(math.NaN())
	cases := map[string]func(o *Options[float32]) *sparse.CSR[float32]{
		"rank":       func(o *Options[float32]) *sparse.CSR[float32] { o.Rank = 0; return r },
		"lambda":     func(o *Options[float32]) *sparse.CSR[float32] { o.Lambda = -1; return r },
		"lambda nan": func(o *Options[float32]) *sparse.CSR[float32] { o.Lambda = math.NaN(); return r },
		"iterations": func(o *Options[float32]) *sparse.CSR[float32] { o.Iterations = 0; return r },
		"steps":      func(o *Options[float32]) *sparse.CSR[float32] { o.CGSteps = 0; return r },
		"tolerance":  func(o *Options[float32]) *sparse.CSR[float32] { o.CGTol = 1; return r },
		"alpha":      func(o *Options[float32]) *sparse.CSR[float32] { o.Implicit, o.Alpha = true, -1; return r },
		"biases":     func(o *Options[float32]) *sparse.CSR[float32] { o.Implicit, o.Biases = true, true; return r },
		"patience":   func(o *Options[float32]) *sparse.CSR[float32] { o.Patience = 3; return r },
		"validation": func(o *Options[float32]) *sparse.CSR[float32] {
			o.Validation = randomRatings[float32](t, 9, 10, 0.5, 8)
			return r
		},
		"no ratings": func(o *Options[float32]) *sparse.CSR[float32] { return empty },
		"nan rating": func(o *Options[float32]) *sparse.CSR[float32] { return nan },
	}
	for name, change := range cases {
		opt := DefaultOptions[float32]()
		m := change(&opt)
		dev := cpu.New(1)
		if res, err := Train(context.Background(), dev, m, opt); err == nil || res != nil {
			t.Errorf("%s: no error", name)
		}
		if dev.Usage() != (device.Usage{}) {
			t.Errorf("%s: the device still holds %+v", name, dev.Usage())
		}
	}
}

// Whichever allocation or copy fails, Train returns that error and leaks nothing.
func TestFailures(t *testing.T) {
	r := randomRatings[float32](t, 12, 10, 0.4, 9)
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Iterations, opt.Validation = 2, 1, r
	implicit := opt
	implicit.Implicit, implicit.Validation = true, nil
	for _, opt := range []Options[float32]{opt, implicit} {
		for what, fail := range map[string]func(device.Device, int) conformance.FailingDevice{
			"allocation": conformance.Failing, "transfer": conformance.FailingTransfers,
		} {
			for n := 1; ; n++ {
				dev := cpu.New(1)
				failing := fail(dev, n)
				_, err := Train(context.Background(), failing, r, opt)
				if dev.Usage() != (device.Usage{}) {
					t.Fatalf("%s %d: the device still holds %+v", what, n, dev.Usage())
				}
				if !failing.Failed() {
					if err != nil || n < 8 {
						t.Errorf("%d calls of kind %s, %v", n-1, what, err)
					}
					break
				}
				if err == nil {
					t.Fatalf("%s %d failed without an error", what, n)
				}
			}
		}
	}
}

// A model that has been saved and loaded folds in the same way.
func TestFoldInAfterLoad(t *testing.T) {
	r := randomRatings[float32](t, 40, 30, 0.3, 9)
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Biases = 4, true
	m := train(t, 1, r, opt).Model
	path := t.TempDir() + "/model.npz"
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := factors.Load[float32](path)
	if err != nil {
		t.Fatal(err)
	}
	a, ab, err := FoldIn(context.Background(), cpu.New(1), m, r)
	if err != nil {
		t.Fatal(err)
	}
	b, bb, err := FoldIn(context.Background(), cpu.New(1), back, r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Data, b.Data) || !slices.Equal(ab, bb) {
		t.Error("a loaded model folds in differently")
	}
}
