package tiling

import "math/bits"

// widths says how many segments rows have in panels of 1, 2, 4, … columns. Neighbours a < b of a row lie in different panels of 2^s columns just
// when they differ in a bit from s on: element h counts neighbours whose highest different bit is bit h−1, and the last one rows.
type widths [33]int64

const ofRows = len(widths{}) - 1

// differ returns the element that counts two neighbours.
func differ(a, b int32) int { return bits.Len32(uint32(a^b)) & 31 }

func (w *widths) merge(more *widths) {
	for h, n := range more {
		w[h] += n
	}
}

// segments returns the numbers of segments, up to the first width that holds all cols columns, where it is the number of rows.
func (w *widths) segments(cols int) []int64 {
	counts := make([]int64, bits.Len(uint(max(cols, 1)-1))+1)
	total := w[ofRows]
	for s := len(counts) - 1; s >= 0; s-- {
		counts[s] = total
		total += w[s]
	}
	return counts
}

// add adds a sorted row.
func (w *widths) add(row []int32) {
	if len(row) == 0 {
		return
	}
	w[ofRows]++
	for z, j := range row[1:] {
		w[differ(row[z], j)]++
	}
}

// addBoth adds two sorted rows as if they were one.
func (w *widths) addBoth(a, b []int32) {
	if len(a) == 0 || len(b) == 0 {
		w.add(a)
		w.add(b)
		return
	}
	w[ofRows]++
	last := min(a[0], b[0])
	for len(a) > 0 && len(b) > 0 {
		j := min(a[0], b[0])
		if a[0] == j {
			a = a[1:]
		}
		if b[0] == j {
			b = b[1:]
		}
		w[differ(last, j)]++
		last = j
	}
	if len(a) == 0 {
		a = b
	}
	for _, j := range a {
		w[differ(last, j)]++
		last = j
	}
}
