package tiling

import "sddmmkit/sparse"

// SegmentCounts returns how many segments p has when cut into panels of 1, 2, 4, … columns: element
// s is Σ over panels of their active rows for a width of 2^s, up to the first width that holds all
// columns, where it is the number of rows that are not empty. The rows of p must be sorted.
//
// It takes one pass; see widths.
func SegmentCounts(p *sparse.Pattern, threads int) ([]int64, error) {
	w, err := newWalk("tiling.SegmentCounts", p, max(p.Cols, 1), threads)
	if err != nil {
		return nil, err
	}
	counts := make([]widths, len(w.counts))
	unsorted := make([]bool, len(w.counts))
	chunkLoop(w.threads, len(w.counts), func(c int) {
		var count widths
		for i := w.rows[c]; i < w.rows[c+1]; i++ {
			row := w.p.Row(i)
			if len(row) == 0 {
				continue
			}
			count[ofRows]++ // the first segment of the row, at any width
			last := row[0]
			for _, j := range row[1:] {
				if j <= last {
					unsorted[c] = true
				}
				count[differ(last, j)]++
				last = j
			}
		}
		counts[c] = count
	})
	for _, bad := range unsorted {
		if bad {
			return nil, w.count() // says which row
		}
	}
	var sum widths
	for c := range counts {
		sum.merge(&counts[c])
	}
	return sum.segments(p.Cols), nil
}
