package sddmm

import (
	"context"
	"errors"
	"slices"
	"time"

	"sddmmkit/device"
	"sddmmkit/model"
)

// Tune makes the first calls for each K on a GPU try tiles, and later calls use the fastest, as plans on CPUs do without being asked
// (cuSDDMM, algorithm 4, does so for T_k). Tried are gathering and the best tile of each slice of K, where the model predicts at
// most 1.3 times the seconds of its choice; each of those calls waits for the device.
//
// On GPUs schemes and slices add up in different orders. So the clock decides the last bits of results, which are not the
// same from run to run then. SetTile ends it, and so does a device without events.
func (pl *Plan[T]) Tune() { pl.tune = true }

// Bounds of tuning.
const (
	tuneCalls   = 3    // of each tile; the fastest counts, for the first of all loads kernels
	tuneGain    = 0.98 // times the time of the model's choice for a tile that takes its place
	worthTrying = 1.3  // times the seconds predicted for the best
)

// tuneKey is what a tuning is for: K, and the bytes of an element of A and B.
type tuneKey struct{ k, elem int }

// tuning finds the fastest tile by trying. Epilogues are compared each for itself, for what they read differs, and the first
// one for which all tiles had their calls decides for all.
type tuning struct {
	trials  []*trial // the model's choice first; the fastest alone when settled
	settled bool
}

// trial is a tile that is tried.
type trial struct {
	tile  model.Tile
	calls [epilogues]int
	least [epilogues]time.Duration
}

// newTuning returns the tuning of what the model looked at.
func newTuning(c model.Choice) *tuning {
	t := &tuning{trials: []*trial{{tile: c.Tile}}}
	for _, p := range c.Alternatives {
		if p.Tile != c.Tile && p.Seconds <= worthTrying*c.Seconds {
			t.trials = append(t.trials, &trial{tile: p.Tile})
		}
	}
	t.settled = len(t.trials) == 1
	return t
}

// due returns the trial of the next call.
func (t *tuning) due(f Epilogue) *trial {
	return slices.MinFunc(t.trials, func(a, b *trial) int { return a.calls[f] - b.calls[f] })
}

// add counts a call. When all tiles had theirs it settles, and returns those that lost.
func (t *tuning) add(at *trial, f Epilogue, took time.Duration) (lost []*trial) {
	if at.calls[f]++; at.calls[f] == 1 || took < at.least[f] {
		at.least[f] = took
	}
	if t.due(f).calls[f] < tuneCalls {
		return nil
	}
	best := t.trials[0]
	for _, other := range t.trials[1:] {
		if float64(other.least[f]) < tuneGain*float64(best.least[f]) {
			best = other
		}
	}
	lost = without(t.trials, best)
	t.trials, t.settled = []*trial{best}, true
	return lost
}

// without returns trials but for one.
func without(trials []*trial, one *trial) []*trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool { return t == one })
}

// tuning returns the tuning that a call takes part in, or nil.
func (pl *Plan[T]) tuning(ctx context.Context, a, b operand) (*tuning, error) {
	if !pl.tune || pl.tile != nil || !sharedDepth(a.elem, a.cols) || !vectors(a, b) {
		return nil, nil
	}
	key := tuneKey{a.cols, a.size}
	t := pl.tunings[key]
	if t == nil {
		c, err := pl.pat.Choose(ctx, model.SDDMM, a.cols, a.size)
		if err != nil {
			return nil, pl.orGather(err)
		}
		t = newTuning(c)
		if pl.tunings == nil {
			pl.tunings = map[tuneKey]*tuning{}
		}
		pl.tunings[key] = t
	}
	if t.settled {
		return nil, nil
	}
	return t, nil
}

// try is a call that tries a tile. One that there is no memory for is out, and where that goes for all the plan gathers.
func (pl *Plan[T]) try(c *launchCall[T], t *tuning) error {
	for len(t.trials) > 0 {
		at := t.due(c.f)
		s, err := pl.ready(at.tile)
		if errors.Is(err, device.ErrOutOfMemory) {
			t.trials = without(t.trials, at)
			t.settled = len(t.trials) == 1
			if err := pl.pat.ForgetShared(at.tile); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		took, err := device.Time(c.dev.Stream(), func() error { return pl.launchScheme(c, s) })
		if errors.Is(err, device.ErrUnsupported) { // a binding without events: nothing was launched
			pl.tune = false
			return pl.launchScheme(c, s)
		}
		if err != nil {
			return err
		}
		for _, lost := range t.add(at, c.f, took) {
			err = errors.Join(err, pl.pat.ForgetShared(lost.tile))
		}
		return err
	}
	pl.tile = &model.Tile{}
	return pl.launchScheme(c, scheme{})
}
