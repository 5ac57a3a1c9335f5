package model

import (
	"math"
	"math/bits"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Pairs of neighbouring rows that are looked at: one of so many, more where there are few rows.
const (
	everyPair  = 32
	leastPairs = 512
)

// follow returns, for panels of 1, 2, 4, … columns, for how many of its segments the row before has one in the same panel: their share, on a
// sample of neighbouring rows. Rows that follow each other are read as streams are. The rows of p are sorted.
func follow(p *sparse.Pattern, threads int) []float64 {
	step := max(min(p.Rows/leastPairs, everyPair), 1)
	pairs := p.Rows / step
	parts := parallel.Threads(threads)
	counts := make([][3]widths, parts)
	parallel.Ranges(parts, int64(pairs), func(part int, lo, hi int64) {
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
			for h, n := range of[k] {
				sum[k][h] += n
			}
		}
	}
	shares := make([]float64, bits.Len(uint(max(p.Cols, 1)-1))+1)
	before, these, both := sum[0][rowsAt], sum[1][rowsAt], sum[2][rowsAt]
	for s := len(shares) - 1; s >= 0; s-- {
		shares[s] = float64(before+these-both) / math.Max(float64(these), 1)
		before, these, both = before+sum[0][s], these+sum[1][s], both+sum[2][s]
	}
	return shares
}

// widths counts neighbours in rows by the highest bit in which they differ, plus one, as tiling.SegmentCounts does, and at rowsAt the rows.
type widths [33]int64

const rowsAt = 32

func (w *widths) add(row []int32) {
	if len(row) == 0 {
		return
	}
	w[rowsAt]++
	for z, j := range row[1:] {
		w[bits.Len32(uint32(j^row[z]))&31]++
	}
}

// addBoth adds two rows as if they were one.
func (w *widths) addBoth(a, b []int32) {
	if len(a) == 0 || len(b) == 0 {
		w.add(a)
		w.add(b)
		return
	}
	w[rowsAt]++
	last := min(a[0], b[0])
	for len(a) > 0 && len(b) > 0 {
		j := min(a[0], b[0])
		if a[0] == j {
			a = a[1:]
		}
		if b[0] == j {
			b = b[1:]
		}
		w[bits.Len32(uint32(j^last))&31]++
		last = j
	}
	if len(a) == 0 {
		a = b
	}
	for _, j := range a {
		w[bits.Len32(uint32(j^last))&31]++
		last = j
	}
}
