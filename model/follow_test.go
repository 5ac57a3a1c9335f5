package model

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"sddmmkit/sparse"
)

// followers counts in plain loops, over all rows.
func followers(p *sparse.Pattern, width int) float64 {
	segments, following := 0, 0
	before := map[int]bool{}
	for i := range p.Rows {
		now := map[int]bool{}
		for _, j := range p.Row(i) {
			now[int(j)/width] = true
		}
		if i > 0 {
			segments += len(now)
			for panel := range now {
				if before[panel] {
					following++
				}
			}
		}
		before = now
	}
	return float64(following) / math.Max(float64(segments), 1)
}

// Rows that follow each other in panels are those that plain loops find: all of few, and of many about as many.
func TestFollow(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for name, c := range map[string]struct {
		p    *sparse.Pattern
		most float64
	}{
		"few": {uniform(rng, 300, 700, 5), 1e-12}, "empty rows": {uniform(rng, 500, 1<<20, 1), 1e-12}, "one row": {uniform(rng, 1, 50, 9), 0}, "none": {uniform(rng, 0, 50, 9), 0},
		"many": {uniform(rng, 20_000, 4096, 10), 0.02}, "neighbours": {local(rng, 20_000, 4096, 10), 0.02}, "even bits": {evenBits(rng, 1<<14, 14, 8), 0.02},
	} {
		shares := follow(c.p, 1)
		for s, got := range shares {
			if want := followers(c.p, 1<<s); math.Abs(got-want) > c.most {
				t.Errorf("%s: %.4f of the segments of panels of %d follow each other, want %.4f", name, got, 1<<s, want)
			}
		}
		for _, threads := range []int{2, 7} {
			if got := follow(c.p, threads); !reflect.DeepEqual(got, shares) {
				t.Errorf("%s: %d threads count others", name, threads)
			}
		}
	}
}

// The share goes on between powers of two, and for all columns it is that of the rows.
func TestNext(t *testing.T) {
	f := &Profile{Rows: 10, Cols: 6, ActiveRows: 5, following: []float64{0.1, 0.2, 0.4, 0.8}}
	for width, want := range map[float64]float64{1: 0.1, 2: 0.2, math.Sqrt(8): 0.3, 4: 0.4, 6: 0.8, 100: 0.8} {
		if got := f.next(width); math.Abs(got-want) > 1e-12 {
			t.Errorf("panels of %v columns: %v, want %v", width, got, want)
		}
	}
	f.following = nil
	if got := f.next(2); got != 0.5 {
		t.Errorf("rows that are not sorted: %v, want the share of rows that are not empty", got)
	}
}
