package dataset

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// PlantedOptions describes ratings made by a known model:
//
//	rating(u,i) = round( Mean + b_u + c_i + Signal·⟨x_u, y_i⟩/√Rank + Noise·e )
//
// with b, c normal of standard deviation Bias, the factors x, y and e standard normal, and round
// as Levels says. Who rates what is skewed: users' counts are lognormal, at least 5 each where
// NNZ allows it, and items follow Zipf's law with exponent 0.6.
type PlantedOptions struct {
	Users, Items int
	NNZ          int64
	Rank         int     // 0 for no factors
	Signal       float64 // standard deviation of the factors' term; 0 means 1
	Bias         float64 // standard deviation of b and of c; 0 for none
	Mean         float64
	Noise        float64
	Levels       Levels // the zero value does not round
	Seed         uint64
	Threads      int // 0 means one per CPU; the result does not depend on it

	groups int // items come in so many groups that share most of their factors; 0: each its own
}

// Levels are the ratings that can be given: Min, Min+Step, … up to Max. A Step of 0 means any.
type Levels struct{ Min, Max, Step float64 }

// round returns the nearest level.
func (l Levels) round(v float64) float64 {
	if l.Step == 0 {
		return v
	}
	return min(max(l.Min+l.Step*math.Round((v-l.Min)/l.Step), l.Min), l.Max)
}

// variance returns the variance of round(m + noise·e) for a standard normal e.
func (l Levels) variance(m, noise float64) float64 {
	if l.Step == 0 {
		return noise * noise
	}
	if noise == 0 {
		return 0
	}
	below := func(v float64) float64 { return math.Erfc((m-v)/(noise*math.Sqrt2)) / 2 }
	top := int(math.Round((l.Max - l.Min) / l.Step))
	var sum, squares, before float64
	for k := range top + 1 {
		v := l.Min + float64(k)*l.Step
		after := 1.0
		if k < top {
			after = below(v + l.Step/2)
		}
		p := after - before
		sum += p * (v - m)
		squares += p * (v - m) * (v - m)
		before = after
	}
	return max(squares-sum*sum, 0)
}

// Truth is the model behind planted ratings.
type Truth struct {
	Rank     int
	Mean     float64
	UserBias []float64 // nil without biases
	ItemBias []float64
	Users    []float64 // Users×Rank, row-major
	Items    []float64 // Items×Rank, row-major, scaled so that ⟨x_u, y_i⟩ is the factors' term
	Noise    float64

	// BestRMSE is what the best possible predictor expects on these entries: the root of their
	// mean variance given the model. Without levels it is Noise; rounding adds to it. No
	// algorithm does better on ratings that it was not trained on, except by luck.
	BestRMSE float64
}

// Predict returns what the model says of user u and item i, before noise and rounding.
func (t *Truth) Predict(u, i int) float64 {
	v := t.Mean
	if t.UserBias != nil {
		v += t.UserBias[u] + t.ItemBias[i]
	}
	x, y := t.Users[u*t.Rank:(u+1)*t.Rank], t.Items[i*t.Rank:(i+1)*t.Rank]
	for k := range x {
		v += x[k] * y[k]
	}
	return v
}

// PlantedRatings generates ratings by a known model, without names, and returns the model too.
func PlantedRatings[T sparse.Float](ctx context.Context, o PlantedOptions) (*Set[T], *Truth, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	ptr, cols, err := skewed{rows: o.Users, cols: o.Items, nnz: o.NNZ, sigma: 0.8, exponent: 0.6, most: int64(o.Items),
		least: 5, seed: o.Seed}.pattern(ctx, o.Threads)
	if err != nil {
		return nil, nil, err
	}
	m := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: o.Users, Cols: o.Items, RowPtr: ptr, ColIdx: cols}, Val: make([]T, o.NNZ)}
	c := m.ToCOO()
	truth, err := o.model(ctx)
	if err != nil {
		return nil, nil, err
	}
	variance := make([]float64, blocks(o.NNZ)) // summed by block, then in their order
	err = parallel.Units(ctx, o.Threads, len(variance), func(b int) {
		rng := stream(o.Seed, forNoise, b)
		for p := b * genBlock; p < min((b+1)*genBlock, len(c.Val)); p++ {
			v := truth.Predict(int(c.Row[p]), int(c.Col[p]))
			c.Val[p] = T(o.Levels.round(v + o.Noise*rng.NormFloat64()))
			variance[b] += o.Levels.variance(v, o.Noise)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	var sum float64
	for _, v := range variance {
		sum += v
	}
	if o.Levels.Step == 0 {
		truth.BestRMSE = o.Noise
	} else if o.NNZ > 0 {
		truth.BestRMSE = math.Sqrt(sum / float64(o.NNZ))
	}
	name := Spec{Kind: "ratings", Rows: o.Users, Cols: o.Items, NNZ: o.NNZ, Rank: o.Rank, Noise: o.Noise, Seed: o.Seed}.String()
	return &Set[T]{Name: name, Format: Generated, COO: c}, truth, nil
}

func (o *PlantedOptions) check() error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case o.Users < 1 || o.Items < 1 || max(o.Users, o.Items) > maxIndex+1:
		return fmt.Errorf("planted ratings: %d users and %d items; want from 1 to %d of each", o.Users, o.Items, maxIndex+1)
	case o.NNZ < 0 || o.NNZ > int64(o.Users)*int64(o.Items):
		return fmt.Errorf("planted ratings: %d ratings; want from 0 to one for each of %d×%d pairs", o.NNZ, o.Users, o.Items)
	case o.Rank < 0:
		return fmt.Errorf("planted ratings: rank %d; want at least 0", o.Rank)
	case !(o.Noise >= 0 && o.Signal >= 0 && o.Bias >= 0 && finite(o.Noise+o.Signal+o.Bias+o.Mean)):
		return fmt.Errorf("planted ratings: noise %v, signal %v, bias %v, mean %v; want finite numbers, none but the mean below 0", o.Noise, o.Signal, o.Bias, o.Mean)
	case o.Levels.Step < 0 || o.Levels.Step > 0 && !(o.Levels.Max >= o.Levels.Min && (o.Levels.Max-o.Levels.Min)/o.Levels.Step <= 1e6):
		return fmt.Errorf("planted ratings: levels from %v to %v by %v; want Min ≤ Max, a Step above 0 and at most a million levels", o.Levels.Min, o.Levels.Max, o.Levels.Step)
	}
	return nil
}

// model draws the biases and factors.
func (o *PlantedOptions) model(ctx context.Context) (*Truth, error) {
	t := &Truth{Rank: o.Rank, Mean: o.Mean, Noise: o.Noise}
	deviation := 1 / math.Sqrt(float64(max(o.Rank, 1)))
	if o.Signal > 0 {
		deviation *= o.Signal
	}
	if o.Bias > 0 {
		t.UserBias, t.ItemBias = make([]float64, o.Users), make([]float64, o.Items)
		rng := stream(o.Seed, forBiases, 0)
		for _, b := range [][]float64{t.UserBias, t.ItemBias} {
			for i := range b {
				b[i] = o.Bias * rng.NormFloat64()
			}
		}
	}
	var err error
	if t.Users, err = o.factors(ctx, o.Users, forUserFactors, 1); err != nil {
		return nil, err
	}
	if t.Items, err = o.factors(ctx, o.Items, forItemFactors, deviation); err != nil {
		return nil, err
	}
	if o.groups > 0 && o.Rank > 0 {
		// Three quarters of an item's variance are its group's.
		shared, err := o.factors(ctx, o.groups, forGroupFactors, deviation)
		if err != nil {
			return nil, err
		}
		for p := range t.Items {
			group := p / o.Rank % o.groups
			t.Items[p] = math.Sqrt(0.25)*t.Items[p] + math.Sqrt(0.75)*shared[group*o.Rank+p%o.Rank]
		}
	}
	return t, nil
}

// factors draws rows×Rank normal numbers of the given standard deviation.
func (o *PlantedOptions) factors(ctx context.Context, rows, purpose int, deviation float64) ([]float64, error) {
	f := make([]float64, rows*o.Rank)
	err := parallel.Units(ctx, o.Threads, blocks(int64(len(f))), func(b int) {
		rng := stream(o.Seed, purpose, b)
		for p := b * genBlock; p < min((b+1)*genBlock, len(f)); p++ {
			f[p] = deviation * rng.NormFloat64()
		}
	})
	return f, err
}
