package fit_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/sparse"
)

// ratings are of three users and four items; user 1 and item 2 have none.
func ratings() *sparse.CSR[float64] {
	return &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 3, Cols: 4, RowPtr: []int64{0, 3, 3, 5}, ColIdx: []int32{0, 1, 3, 0, 3}},
		Val: []float64{1, 2, 3, 4, 5}}
}

func TestShifts(t *testing.T) {
	for _, c := range []struct {
		kind     fit.Regularization
		implicit bool
		want     []float64
	}{
		{fit.ByFeedback, false, []float64{1.5, 0, 1}},
		{fit.ByFeedback, true, []float64{0.5, 0.5, 0.5}},
		{fit.Weighted, true, []float64{1.5, 0, 1}},
		{fit.Plain, false, []float64{0.5, 0.5, 0.5}},
	} {
		opt := fit.Options[float64]{Lambda: 0.5, Regularization: c.kind}
		if got := opt.Shifts(ratings().RowPtr, c.implicit); !slices.Equal(got, c.want) {
			t.Errorf("kind %d, implicit %t: shifts %v, want %v", c.kind, c.implicit, got, c.want)
		}
		if want := fmt.Sprint(c.want[1] == 0); opt.Meta(c.implicit)[fit.MetaWeighted] != want {
			t.Errorf("kind %d, implicit %t: the model remembers %v", c.kind, c.implicit, opt.Meta(c.implicit))
		}
	}
}

func TestLambdaOfBiases(t *testing.T) {
	for _, c := range []struct{ lambda, bias, want, scale float64 }{
		{0.2, 0, 0.1, math.Sqrt2}, {0.2, 0.8, 0.8, 0.5}, {0, 0, 0, 1}, {0, 3, 3, 1},
	} {
		opt := fit.Options[float64]{Lambda: c.lambda, BiasLambda: c.bias}
		if got, s := opt.LambdaOfBiases(), opt.BiasScale(); got != c.want || math.Abs(s-c.scale) > 1e-15 {
			t.Errorf("λ %v and %v: λ of biases %v and scale %v, want %v and %v", c.lambda, c.bias, got, s, c.want, c.scale)
		}
	}
}

// A new state has zero users and random items; its model has biases where it should, and scores are the
// dot products of the columns on the device.
func TestState(t *testing.T) {
	r := ratings()
	rt := r.Transpose(1)
	for _, biases := range []bool{false, true} {
		opt := fit.Options[float64]{Rank: 2, Lambda: 0.5, Seed: 7, Mean: biases, Biases: biases}
		dev := cpu.New(1)
		s, err := fit.NewState(dev, r, rt.RowPtr, &opt)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Model("test")
		if err != nil {
			t.Fatal(err)
		}
		if m.Algo != "test" || m.Rank != 2 || m.Low != 1 || m.High != 5 || (m.UserBias != nil) != biases || biases && m.Mean != 3 {
			t.Errorf("biases %t: the first model is %+v", biases, m)
		}
		for u := range r.Rows {
			if !m.ColdUser(u) {
				t.Errorf("user %d begins as %v", u, m.Users.Row(u))
			}
		}
		for i := range r.Cols {
			if m.ColdItem(i) != (i == 2) {
				t.Errorf("item %d begins as %v", i, m.Items.Row(i))
			}
		}
		x, y, mean := s.Factors()
		for i, v := range x.Buf.Host() { // anything
			if x.Cols == 2 || i%4 < 3 {
				x.Buf.Host()[i] = v + float64(i) + 1
			}
		}
		if biases {
			y.Host().Set(1, 3, 5)
		}
		if m, err = s.Model("test"); err != nil {
			t.Fatal(err)
		}
		for u := range r.Rows {
			for i := range r.Cols {
				want := mean
				for k, v := range x.Host().Row(u) {
					want += v * y.Host().At(i, k)
				}
				if got := m.Predict(u, i); math.Abs(got-want) > 1e-12*math.Abs(want) {
					t.Errorf("biases %t: (%d,%d) is predicted as %v, want %v", biases, u, i, got, want)
				}
			}
		}
		penalty(t, s, &opt, dev, r, rt)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if dev.Usage() != (device.Usage{}) {
			t.Errorf("the device still holds %+v", dev.Usage())
		}
	}
	if err := (*fit.State[float64])(nil).Close(); err != nil {
		t.Error(err)
	}
}

// penalty checks Penalty against the formula on the model.
func penalty(t *testing.T, s *fit.State[float64], opt *fit.Options[float64], dev device.Device, r, rt *sparse.CSR[float64]) {
	t.Helper()
	m, err := s.Model("test")
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	add := func(n int, row, bias []float64, i int) {
		for _, f := range row {
			want += opt.Lambda * float64(n) * f * f
		}
		if bias != nil {
			want += opt.LambdaOfBiases() * float64(n) * bias[i] * bias[i]
		}
	}
	for u := range r.Rows {
		add(len(r.Row(u)), m.Users.Row(u), m.UserBias, u)
	}
	for i := range r.Cols {
		add(len(rt.Row(i)), m.Items.Row(i), m.ItemBias, i)
	}
	users, err := device.FromHost(dev, opt.Shifts(r.RowPtr, false))
	if err != nil {
		t.Fatal(err)
	}
	defer users.Close()
	items, err := device.FromHost(dev, opt.Shifts(rt.RowPtr, false))
	if err != nil {
		t.Fatal(err)
	}
	defer items.Close()
	got, err := s.Penalty(context.Background(), users, items)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(got-want) <= 1e-12*want) || want == 0 {
		t.Errorf("biases %t: the penalty is %v, want %v", opt.Biases, got, want)
	}
}
