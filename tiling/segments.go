package tiling

import (
	"math/bits"

	"sddmmkit/sparse"
)

// SegmentCounts returns how many segments p has when cut into panels of 1, 2, 4, … columns: element
// s is Σ over panels of their active rows for a width of 2^s, up to the first width that holds all
// columns, where it is the number of rows that are not empty. The rows of p must be sorted.
//
// It takes one pass: neighbours a < b of a row lie in different panels of 2^s columns just when
// a and b differ in a bit from s on.
func SegmentCounts(p *sparse.Pattern, threads int) ([]int64, error) {
	w, err := newWalk("tiling.SegmentCounts", p, max(p.Cols, 1), threads)
	if err != nil {
		return nil, err
	}
	// differ[c][h]: neighbours whose highest different bit is bit h-1.
	differ := make([][33]int64, len(w.counts))
	unsorted := make([]bool, len(w.counts))
	chunkLoop(w.threads, len(w.counts), func(c int) {
		var count [33]int64
		for i := w.rows[c]; i < w.rows[c+1]; i++ {
			row := w.p.Row(i)
			if len(row) == 0 {
				continue
			}
			count[32]++ // the first segment of the row, at any width
			last := row[0]
			for _, j := range row[1:] {
				if j <= last {
					unsorted[c] = true
				}
				count[bits.Len32(uint32(j^last))&31]++
				last = j
			}
		}
		differ[c] = count
	})
	for _, bad := range unsorted {
		if bad {
			return nil, w.count() // says which row
		}
	}
	var sum [33]int64
	for _, count := range differ {
		for h, n := range count {
			sum[h] += n
		}
	}
	counts := make([]int64, bits.Len(uint(max(p.Cols, 1)-1))+1)
	total := sum[32]
	for s := len(counts) - 1; s >= 0; s-- {
		counts[s] = total
		total += sum[s]
	}
	return counts, nil
}
