package tiling

import (
	"math"
	"math/rand/v2"
	"slices"
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

// Shares are those that plain loops find: all of few rows, and of many about as many.
func TestFollowingShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	evenBits := func(bits int) (j int32) { // mostly zero
		for range bits {
			j *= 2
			if rng.IntN(4) == 0 {
				j++
			}
		}
		return j
	}
	// Rows of so many columns, those of some of them more often.
	draw := func(rows, cols int, column func(i int) int32) *sparse.Pattern {
		p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}
		for i := range rows {
			var row []int32
			for range 10 {
				row = append(row, column(i))
			}
			slices.Sort(row)
			p.ColIdx = append(p.ColIdx, slices.Compact(row)...)
			p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
		}
		return p
	}
	for name, c := range map[string]struct {
		p    *sparse.Pattern
		most float64
	}{
		"few": {random(rng, 300, 700, 1), 1e-12}, "skewed": {random(rng, 300, 90, 3), 1e-12}, "one row": {random(rng, 1, 50, 1), 0}, "none": {random(rng, 0, 50, 1), 0}, "no columns": {random(rng, 9, 0, 1), 0},
		"anywhere":    {draw(20_000, 4096, func(int) int32 { return rng.Int32N(4096) }), 0.02},
		"neighbours":  {draw(20_000, 4096, func(i int) int32 { return (int32(i)/5 + rng.Int32N(50)) % 4096 }), 0.02},
		"even bits":   {draw(1<<14, 1<<14, func(int) int32 { return evenBits(14) }), 0.02},
		"rows by bit": {draw(1<<14, 1<<14, func(i int) int32 { return int32(i&3)<<12 | rng.Int32N(1<<12) }), 0.02},
	} {
		shares := FollowingShares(c.p, 1)
		for s, got := range shares {
			if want := followers(c.p, 1<<s); math.Abs(got-want) > c.most {
				t.Errorf("%s: %.4f of the segments of panels of %d follow each other, want %.4f", name, got, 1<<s, want)
			}
		}
		for _, threads := range []int{2, 7} {
			if got := FollowingShares(c.p, threads); !slices.Equal(got, shares) {
				t.Errorf("%s: %d threads count others", name, threads)
			}
		}
	}
}
