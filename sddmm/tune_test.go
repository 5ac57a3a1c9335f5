package sddmm_test

import (
	"math"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// tuneK is a K for which the model looks at several slices.
const tuneK = 128

// tuneCase is a pattern whose tiles are tried, its operands, and what is to come out.
type tuneCase struct {
	s             *sparse.CSR[float32]
	a, b          dense.Matrix[float32]
	dot, residual []float64
}

func newTuneCase() *tuneCase {
	s := popular()
	c := &tuneCase{s: s, a: small(s.Rows, tuneK, 1), b: small(s.Cols, tuneK, 2)}
	c.dot, _ = sddmm.Reference(sddmm.Dot, 1, s, c.a, c.b, 0, nil)
	c.residual, _ = sddmm.Reference(sddmm.Residual, 1, s, c.a, c.b, 0, nil)
	return c
}

// tuned calls a plan that tunes until it has settled and once more. It returns the tile, how often each was tried, and what the device
// holds in the end.
func (c *tuneCase) tuned(t *testing.T, dev device.Device) (winner model.Tile, tried map[model.Tile]int, held device.Usage) {
	t.Helper()
	tried = map[model.Tile]int{}
	onPlan(t, dev, c.s, c.a, c.b, func(plan *sddmm.Plan[float32], run func(sddmm.Epilogue, []float64)) {
		plan.Tune()
		if tile, settled := plan.Tile(tuneK); settled {
			t.Errorf("tile %v is settled before the first call", tile)
		}
		run(sddmm.Residual, c.residual) // as a solver begins: a turn of its own
		for {
			tile, settled := plan.Tile(tuneK)
			if winner = tile; settled {
				break
			}
			if tried[tile]++; tried[tile] > 3 {
				t.Fatalf("tile %v is tried once more: %v", tile, tried)
			}
			run(sddmm.Dot, c.dot)
		}
		run(sddmm.Residual, c.residual)
		if tile, settled := plan.Tile(tuneK); !settled || tile != winner {
			t.Errorf("tile %v, settled %t after %v was", tile, settled, winner)
		}
		held = dev.Usage()
	})
	return winner, tried, held
}

// A plan that tunes tries several tiles equally often, and keeps what a plan has that was given the fastest of them.
func TestTuneOnGPUs(t *testing.T) {
	gpu := modelled(t)
	defer gpu.Close()
	dev := conformance.Failing(asCUDA{gpu.(device.Launcher)}, math.MaxInt)
	c := newTuneCase()
	winner, tried, held := c.tuned(t, dev)
	if len(tried) < 2 || tried[winner] != 3 {
		t.Errorf("tile %v won of %v", winner, tried)
	}
	for tile, calls := range tried {
		if calls != 3 {
			t.Errorf("tile %v was tried %d times: %v", tile, calls, tried)
		}
	}
	onPlan(t, dev, c.s, c.a, c.b, func(plan *sddmm.Plan[float32], run func(sddmm.Epilogue, []float64)) {
		if err := plan.SetTile(winner); err != nil {
			t.Fatal(err)
		}
		run(sddmm.Dot, c.dot)
		if most := dev.Usage(); held.Buffers > most.Buffers+1 || held.Bytes > most.Bytes+4*c.s.NNZ() { // dot products as gathering had them
			t.Errorf("%+v is held after tuning, and %+v by a plan that was given tile %v", held, most, winner)
		}
	})
}

// withoutEvents is a GPU whose bindings lack events.
type withoutEvents struct{ asCUDA }

func (d withoutEvents) Stream() device.Stream { return recordsNothing{d.asCUDA.Stream()} }

type recordsNothing struct{ device.Stream }

func (recordsNothing) Record() (device.Event, error) { return nil, device.ErrUnsupported }

// Where there is nothing to time by, the model's tile stays.
func TestTuneWithoutEvents(t *testing.T) {
	gpu := modelled(t)
	defer gpu.Close()
	c := newTuneCase()
	dev := asCUDA{gpu.(device.Launcher)}
	want := runChosen(t, conformance.Failing(dev, math.MaxInt), c.s, c.a, c.b, nil)
	onPlan(t, conformance.Failing(withoutEvents{dev}, math.MaxInt), c.s, c.a, c.b, func(plan *sddmm.Plan[float32], run func(sddmm.Epilogue, []float64)) {
		plan.Tune()
		run(sddmm.Dot, c.dot)
		if tile, settled := plan.Tile(tuneK); !settled || tile != want {
			t.Errorf("tile %v, settled %t, the model's is %v", tile, settled, want)
		}
	})
}

// A tile that there is no memory for is out.
func TestTuneOutOfMemoryOnGPUs(t *testing.T) {
	gpu := modelled(t)
	defer gpu.Close()
	c := newTuneCase()
	for n, failed := 7, true; failed; n += 5 { // the first six are the pattern and the operands
		failing := conformance.Failing(asCUDA{gpu.(device.Launcher)}, n)
		winner, tried, _ := c.tuned(t, failing)
		failed = failing.Failed()
		if _, ok := tried[winner]; !ok && len(tried) > 0 {
			t.Errorf("allocation %d: tile %v won, which is none of %v", n, winner, tried)
		}
		if u := gpu.Usage(); u != (device.Usage{}) {
			t.Errorf("allocation %d: %+v is still open", n, u)
		}
	}
}
