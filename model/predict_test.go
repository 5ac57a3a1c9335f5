package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What survive says, against a cache that replaces at random, through which more lines than it has go again and again.
func TestSurviveAgainstRandomReplacement(t *testing.T) {
	const (
		cache = 1 << 12
		warm  = 30 // rounds, and as many that count
		none  = -1
	)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, times := range []float64{1.05, 1.2, 1.5, 2, 4} {
		lines := make([]int, int(times*cache)) // the place of each
		places := make([]int, cache)           // the line in each
		for i := range lines {
			lines[i] = none
		}
		for i := range places {
			places[i] = none
		}
		hits, reads := 0, 0
		for round := range 2 * warm {
			for line, place := range lines {
				if round >= warm {
					reads++
				}
				if place != none {
					if round >= warm {
						hits++
					}
					continue
				}
				place = rng.IntN(cache)
				if old := places[place]; old != none {
					lines[old] = none
				}
				places[place], lines[line] = line, place
			}
		}
		if got, want := survive(times), float64(hits)/float64(reads); math.Abs(got-want) > 0.02 {
			t.Errorf("%v times the cache: %.3f survive, want %.3f", times, got, want)
		}
	}
	if got := survive(1); math.Abs(got-1) > 0.01 {
		t.Errorf("what a cache just holds: %.3f survive, want all of it", got)
	}
	if got := survive(1e6); got > 1e-9 {
		t.Errorf("a million times a cache: %g survive, want none of it", got)
	}
}
