package fit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"sddmmkit/algos/fit"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// script is a solver of one user and one item whose prediction after iteration n is errs[n-1], so
// that the RMSE on a validation rating of 0 is errs[n-1] too.
type script struct {
	x, y *dense.Resident[float64]
	errs []float64
	n    int
	fail error
}

func newScript(t *testing.T, errs ...float64) *script {
	t.Helper()
	dev := cpu.New(1)
	s := &script{errs: errs}
	one := dense.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
	var err error
	if s.x, err = dense.Upload(dev, one); err != nil {
		t.Fatal(err)
	}
	if s.y, err = dense.Upload(dev, one); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.x.Close()
		s.y.Close()
		if dev.Usage() != (device.Usage{}) {
			t.Errorf("the device still holds %+v", dev.Usage())
		}
	})
	return s
}

func (s *script) Iterate(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.fail != nil {
		return s.fail
	}
	s.n++
	return s.x.Buf.Upload([]float64{s.errs[s.n-1]})
}
func (s *script) Loss(context.Context) (float64, float64, error) {
	return s.errs[s.n-1], s.errs[s.n-1], nil
}
func (s *script) Factors() (x, y *dense.Resident[float64], mean float64) { return s.x, s.y, 0 }
func (s *script) Metric() fit.Metric                                     { return fit.RMSE }
func (s *script) Model() (*factors.Model[float64], error) {
	x, err := s.x.Download()
	if err != nil {
		return nil, err
	}
	y, err := s.y.Download()
	return &factors.Model[float64]{Algo: "script", Rank: 1, Users: x, Items: y}, err
}

func single(v float64) *sparse.CSR[float64] {
	return &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}}, Val: []float64{v}}
}

func options(iterations, patience int) fit.Options[float64] {
	return fit.Options[float64]{Rank: 1, Iterations: iterations, Validation: single(0), Patience: patience}
}

func TestRunsAllIterations(t *testing.T) {
	s := newScript(t, 3, 2, 4)
	res, err := fit.Run(context.Background(), s, single(1), options(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	if res.Stopped != fit.Finished || res.Best != 3 || res.Model.Users.At(0, 0) != 4 || len(res.History) != 3 {
		t.Fatalf("got %+v", res)
	}
	for n, it := range res.History {
		if it.N != n+1 || it.Score != s.errs[n] || it.Metric != fit.RMSE || it.TrainRMSE != s.errs[n] {
			t.Errorf("iteration %d is %+v", n+1, it)
		}
	}
}

// With patience, training stops when validation gets no better and returns the best model.
func TestPatience(t *testing.T) {
	s := newScript(t, 5, 3, 2, 4, 2.5, 1)
	res, err := fit.Run(context.Background(), s, single(1), options(6, 2))
	if err != nil {
		t.Fatal(err)
	}
	if res.Stopped != fit.Patience || res.Best != 3 || res.Model.Users.At(0, 0) != 2 || len(res.History) != 5 {
		t.Fatalf("stopped by %q, best %d with %v, %d iterations", res.Stopped, res.Best, res.Model.Users.At(0, 0), len(res.History))
	}
	if res.BestRecord.Score != 2 {
		t.Errorf("the best record is %+v", res.BestRecord)
	}
}

// A gain below MinDelta is none.
func TestMinDelta(t *testing.T) {
	opt := options(4, 1)
	opt.MinDelta = 0.5
	res, err := fit.Run(context.Background(), newScript(t, 5, 4, 3.9, 1), single(1), opt)
	if err != nil {
		t.Fatal(err)
	}
	if res.Stopped != fit.Patience || res.Best != 2 {
		t.Fatalf("stopped by %q at best %d", res.Stopped, res.Best)
	}
}

func TestCallback(t *testing.T) {
	opt := options(3, 0)
	opt.OnIteration = func(it fit.Iteration) error {
		if it.N == 2 {
			return fit.ErrStop
		}
		return nil
	}
	res, err := fit.Run(context.Background(), newScript(t, 3, 2, 1), single(1), opt)
	if err != nil || res.Stopped != fit.Callback || res.Best != 2 {
		t.Fatalf("got %+v, %v", res, err)
	}
	broken := errors.New("broken")
	opt.OnIteration = func(fit.Iteration) error { return broken }
	if _, err := fit.Run(context.Background(), newScript(t, 3, 2, 1), single(1), opt); !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
}

// An interrupted run returns what there is, and the error.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	opt := options(3, 0)
	opt.OnIteration = func(fit.Iteration) error { cancel(); return nil }
	res, err := fit.Run(ctx, newScript(t, 3, 2, 1), single(1), opt)
	if !errors.Is(err, context.Canceled) || res.Stopped != fit.Interrupted || res.Best != 1 || res.Model.Users.At(0, 0) != 3 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

func TestFailures(t *testing.T) {
	s := newScript(t, 1)
	s.fail = device.ErrOutOfMemory
	if res, err := fit.Run(context.Background(), s, single(1), options(1, 0)); !errors.Is(err, device.ErrOutOfMemory) || res != nil {
		t.Fatalf("got %v, %v", res, err)
	}
	if _, err := fit.Run(context.Background(), newScript(t, math.NaN()), single(1), options(1, 0)); err == nil {
		t.Fatal("a loss that is no number went through")
	}
}
