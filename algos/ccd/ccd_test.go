package ccd

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

// variants are the models that CCD++ trains.
func variants[T sparse.Float](rank int) map[string]Options[T] {
	with := func(change func(*Options[T])) Options[T] {
		o := DefaultOptions[T]()
		o.Rank, o.Iterations = rank, 6
		change(&o)
		return o
	}
	return map[string]Options[T]{
		"weighted":      with(func(o *Options[T]) {}),
		"plain":         with(func(o *Options[T]) { o.Regularization, o.Lambda = fit.Plain, 2 }),
		"one step":      with(func(o *Options[T]) { o.InnerSteps = 1 }),
		"five steps":    with(func(o *Options[T]) { o.InnerSteps = 5 }),
		"mean":          with(func(o *Options[T]) { o.Mean = true }),
		"biases":        with(func(o *Options[T]) { o.Biases = true }),
		"mean, biases":  with(func(o *Options[T]) { o.Mean, o.Biases, o.BiasLambda = true, true, 0.3 }),
		"biases, plain": with(func(o *Options[T]) { o.Biases, o.Regularization, o.Lambda = true, fit.Plain, 2 }),
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

// Iterations equal those of the algorithm as the paper prints it.
func TestEqualsAlgorithm1(t *testing.T) {
	r := randomRatings[float64](t, 40, 30, 0.3, 1)
	for name, opt := range variants[float64](5) {
		t.Run(name, func(t *testing.T) {
			s, err := newSolver(cpu.New(2), r, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			want := plainFrom(t, s, r)
			for n := range 6 {
				if err := s.Iterate(context.Background()); err != nil {
					t.Fatal(err)
				}
				want.iterate()
				// TestEveryUpdate bounds each update, by about 50·u ≈ 1e-14. An update carries the errors of
				// earlier ones on, by a factor that is near one on average: over 6·7 updates and
				// their steps, three digits are left for that.
				const bound = 1e-11
				x, y := matrix(t, s.X), matrix(t, s.Y)
				worst := 0.0
				for c := range want.x {
					for i, v := range want.x[c] {
						worst = max(worst, math.Abs(v-x.At(i, c)))
					}
					for j, v := range want.y[c] {
						worst = max(worst, math.Abs(v-y.At(j, c)))
					}
				}
				if !(worst < bound) {
					t.Fatalf("iteration %d: factors are %.2g from algorithm 1, want < %.0g", n+1, worst, bound)
				}
			}
		})
	}
}

// The loss never rises, not in any update of any factor.
func TestLossNeverRises(t *testing.T) {
	t.Run("float64", func(t *testing.T) { lossNeverRises[float64](t, 1e-12) })
	// Near the end an update gains less than float32 can tell.
	t.Run("float32", func(t *testing.T) { lossNeverRises[float32](t, 1e-5) })
}

func lossNeverRises[T sparse.Float](t *testing.T, slack float64) {
	ctx := context.Background()
	r := randomRatings[T](t, 60, 50, 0.2, 2)
	for name, opt := range variants[T](4) {
		s, err := newSolver(cpu.New(2), r, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		first, _, err := s.Loss(ctx)
		if err != nil {
			t.Fatal(err)
		}
		was := first
		for n := range 12 {
			for _, f := range s.order() {
				// Loss leaves a new residual behind, and so does restart: an update at a time.
				if err := errors.Join(s.restart(ctx), s.exclude(ctx, -1, f.column), s.solve(ctx, f), s.store(ctx, f.column)); err != nil {
					t.Fatal(err)
				}
				is, _, err := s.Loss(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if is > was*(1+slack) {
					t.Errorf("%s: the loss rose from %v to %v with column %d in iteration %d", name, was, is, f.column, n+1)
				}
				was = is
			}
		}
		if !(was < first/2) {
			t.Errorf("%s: the loss went from %v to %v only", name, first, was)
		}
	}
}

// The loss that Train reports is the formula's, and falls.
func TestLossIsTheFormula(t *testing.T) {
	r := randomRatings[float64](t, 25, 20, 0.3, 3)
	rt := r.Transpose(1)
	for name, opt := range variants[float64](3) {
		res := train(t, 1, r, opt)
		m, want, squares := res.Model, 0.0, 0.0
		weight := func(n int, lambda float64) float64 {
			if opt.Weighted(false) {
				return lambda * float64(n)
			}
			return lambda
		}
		each(r, func(u, i int, z int64) { squares += math.Pow(r.Val[z]-m.Predict(u, i), 2) })
		for u := range r.Rows {
			for _, f := range m.Users.Row(u) {
				want += weight(len(r.Row(u)), opt.Lambda) * f * f
			}
			if opt.Biases {
				want += weight(len(r.Row(u)), opt.LambdaOfBiases()) * m.UserBias[u] * m.UserBias[u]
			}
		}
		for i := range r.Cols {
			for _, f := range m.Items.Row(i) {
				want += weight(len(rt.Row(i)), opt.Lambda) * f * f
			}
			if opt.Biases {
				want += weight(len(rt.Row(i)), opt.LambdaOfBiases()) * m.ItemBias[i] * m.ItemBias[i]
			}
		}
		want += squares
		if got := res.BestRecord.Loss; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: loss %v, the formula says %v", name, got, want)
		}
		if got, want := res.BestRecord.TrainRMSE, math.Sqrt(squares/float64(r.NNZ())); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: train RMSE %v, the formula says %v", name, got, want)
		}
		for n := 1; n < len(res.History); n++ {
			if was, is := res.History[n-1].Loss, res.History[n].Loss; is > was*(1+1e-12) {
				t.Errorf("%s: the loss rose from %v to %v in iteration %d", name, was, is, n+1)
			}
		}
	}
}

// The same seed gives the same bits for any number of threads, and another seed other ones.
func TestSameBits(t *testing.T) {
	r := randomRatings[float32](t, 300, 200, 0.2, 4) // half a dozen units of work
	for name, opt := range variants[float32](5) {
		opt.Iterations = 2
		want := train(t, 1, r, opt).Model
		for _, threads := range []int{1, 2, 3, 8} {
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
	zeros := randomRatings[float32](t, 30, 25, 0.3, 5)
	clear(zeros.Val)
	for _, r := range []*sparse.CSR[float32]{one, zeros, randomRatings[float32](t, 30, 25, 0.3, 5), randomRatings[float32](t, 3, 200, 0.3, 5)} {
		rt := r.Transpose(1)
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

// Training ends within a second of an interruption, with a usable model.
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

// countdown is a context that is done after so many looks at it.
type countdown struct {
	context.Context
	left int
	done chan struct{}
}

func newCountdown(looks int) *countdown {
	return &countdown{Context: context.Background(), left: looks, done: make(chan struct{})}
}

func (c *countdown) Done() <-chan struct{} {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return c.done
}

func (c *countdown) Err() error {
	if c.left <= 0 {
		return context.Canceled
	}
	return nil
}

// Wherever an iteration is interrupted, what is left is a model that is no worse than before.
func TestInterruptAnywhere(t *testing.T) {
	r := randomRatings[float64](t, 30, 25, 0.3, 7)
	for name, opt := range variants[float64](3) {
		s, err := newSolver(cpu.New(1), r, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		was, _, err := s.Loss(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		interrupted := 0
		for looks := 1; ; looks++ {
			err := s.Iterate(newCountdown(looks))
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			m, merr := s.Model()
			if merr != nil {
				t.Fatal(merr)
			}
			if verr := m.Validate(); verr != nil {
				t.Fatalf("%s: interrupted at %d: %v", name, looks, verr)
			}
			is, _, lerr := s.Loss(context.Background())
			if lerr != nil {
				t.Fatal(lerr)
			}
			if is > was*(1+1e-12) {
				t.Fatalf("%s: interrupted at %d the loss rose from %v to %v", name, looks, was, is)
			}
			if was = is; err == nil {
				break
			}
			interrupted++
		}
		if interrupted < 20 {
			t.Errorf("%s: an iteration could be interrupted at %d places only", name, interrupted)
		}
	}
}

func TestBadOptions(t *testing.T) {
	r := randomRatings[float32](t, 10, 10, 0.5, 8)
	empty := &sparse.CSR[float32]{Pattern: sparse.Pattern{Rows: 2, Cols: 2, RowPtr: []int64{0, 0, 0}}}
	nan := randomRatings[float32](t, 10, 10, 0.5, 8)
	nan.Val[3] = float32(math.NaN())
	cases := map[string]func(o *Options[float32]) *sparse.CSR[float32]{
		"rank":         func(o *Options[float32]) *sparse.CSR[float32] { o.Rank = 0; return r },
		"lambda":       func(o *Options[float32]) *sparse.CSR[float32] { o.Lambda = -1; return r },
		"lambda nan":   func(o *Options[float32]) *sparse.CSR[float32] { o.Lambda = math.NaN(); return r },
		"iterations":   func(o *Options[float32]) *sparse.CSR[float32] { o.Iterations = 0; return r },
		"steps":        func(o *Options[float32]) *sparse.CSR[float32] { o.InnerSteps = 0; return r },
		"bias lambda":  func(o *Options[float32]) *sparse.CSR[float32] { o.BiasLambda = math.Inf(1); return r },
		"patience":     func(o *Options[float32]) *sparse.CSR[float32] { o.Patience = 3; return r },
		"no ratings":   func(o *Options[float32]) *sparse.CSR[float32] { return empty },
		"nan rating":   func(o *Options[float32]) *sparse.CSR[float32] { return nan },
		"weighting":    func(o *Options[float32]) *sparse.CSR[float32] { o.Regularization = 9; return r },
		"other shapes": func(o *Options[float32]) *sparse.CSR[float32] { o.Validation = empty; return r },
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

// A model that has been saved is loaded back exactly.
func TestSaveAndLoad(t *testing.T) {
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Biases, opt.Mean, opt.InnerSteps = 4, true, true, 3
	m := train(t, 1, randomRatings[float32](t, 40, 30, 0.3, 9), opt).Model
	path := t.TempDir() + "/model.npz"
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := factors.Load[float32](path)
	if err != nil {
		t.Fatal(err)
	}
	if back.Algo != "ccd" || back.Meta[fit.MetaLambda] != "0.1" || back.Meta[metaSteps] != "3" || back.Mean != m.Mean ||
		fmt.Sprint(back.Meta) != fmt.Sprint(m.Meta) ||
		!slices.Equal(back.Users.Data, m.Users.Data) || !slices.Equal(back.Items.Data, m.Items.Data) ||
		!slices.Equal(back.UserBias, m.UserBias) || !slices.Equal(back.ItemBias, m.ItemBias) {
		t.Errorf("loaded %+v, saved %+v", back.Meta, m.Meta)
	}
}
