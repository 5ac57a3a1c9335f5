package tiling

import (
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Pairs of neighbouring rows that FollowingShares looks at: one of so many, more where there are few rows.
const (
	everyPair  = 32
	leastPairs = 256
)

// FollowingShares returns, for panels of 1, 2, 4, … columns as SegmentCounts has them, the share of segments whose row comes right after that of
// another segment of the same panel: rows of A and C that are read in order of address. It is estimated on a sample of neighbouring rows, for which
// it takes O(Rows) and about a sixteenth of the non-zeros, and is the same for any number of threads. The rows of p must be sorted; of others the
// shares mean nothing.
func FollowingShares(p *sparse.Pattern, threads int) []float64 {
	step := max(min(p.Rows/leastPairs, everyPair), 1)
	parts := parallel.Threads(threads)
	counts := make([][3]widths, parts)
	parallel.Ranges(parts, int64(p.Rows/step), func(part int, lo, hi int64) {
		var of [3]widths // of the rows before, of these, and of both in one
		for pair := lo; pair < hi; pair++ {
			// Any of the rows, for those with the same low bits may be alike.
			i := int(pair)*step + int(uint32(pair)*0x9e3779b1>>16)%step
			if i == 0 {
				continue
			}
			before, row := p.Row(i-1), p.Row(i)
			of[0].add(before)
			of[1].add(row)
			of[2].addBoth(before, row)
		}
		counts[part] = of
	})
	var sum [3]widths
	for _, of := range counts {
		for k := range sum {
			sum[k].merge(&of[k])
		}
	}
	before, these, both := sum[0].segments(p.Cols), sum[1].segments(p.Cols), sum[2].segments(p.Cols)
	shares := make([]float64, len(these))
	for s := range shares {
		shares[s] = float64(before[s]+these[s]-both[s]) / math.Max(float64(these[s]), 1)
	}
	return shares
}
