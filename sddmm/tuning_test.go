package sddmm

import (
	"testing"
	"time"

	"sddmmkit/model"
)

// The fastest call of each tile counts, and the model's tile stays unless another one is 2 % faster.
func TestTuning(t *testing.T) {
	for name, c := range map[string]struct {
		times map[int][]time.Duration // of the calls, for each tile
		best  int
	}{
		"the model's tile": {map[int][]time.Duration{1: {99, 99, 99}, 2: {900, 900, 100}, 3: {99, 99, 100}}, 2},
		"a faster one":     {map[int][]time.Duration{1: {97, 200, 200}, 2: {100, 100, 100}, 3: {200, 96, 200}}, 1},
		"the fastest":      {map[int][]time.Duration{1: {97, 200, 200}, 2: {100, 100, 100}, 3: {200, 200, 94}}, 3},
	} {
		choice := model.Choice{Prediction: model.Prediction{Tile: model.Tile{Tj: 2}, Seconds: 1}}
		for tj, seconds := range []float64{1.31, 1.29, 1, 0.95} { // the first is too slow to be tried
			choice.Alternatives = append(choice.Alternatives, model.Prediction{Tile: model.Tile{Tj: tj}, Seconds: seconds})
		}
		tuning := newTuning(choice)
		var lost []*trial
		for call := range 3 * tuneCalls {
			if tuning.settled {
				t.Fatalf("%s: settled after %d calls", name, call)
			}
			if call < 2*tuneCalls { // another epilogue counts for itself
				tuning.add(tuning.due(Residual), Residual, time.Duration(call))
			}
			at := tuning.due(Dot)
			lost = tuning.add(at, Dot, c.times[at.tile.Tj][at.calls[Dot]])
		}
		if got := tuning.due(Dot).tile.Tj; !tuning.settled || got != c.best || len(lost) != 2 {
			t.Errorf("%s: settled %t with tile %d, %d lost; want %d", name, tuning.settled, got, len(lost), c.best)
		}
	}
}

// Where the model looks at one tile there is nothing to try.
func TestTuningOfOne(t *testing.T) {
	one := model.Prediction{Seconds: 1}
	if !newTuning(model.Choice{Prediction: one, Alternatives: []model.Prediction{one}}).settled {
		t.Error("one tile is not settled")
	}
}
