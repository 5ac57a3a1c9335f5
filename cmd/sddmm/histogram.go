package main

import (
	"fmt"
	"math/bits"
	"strings"

	"sddmmkit/sparse"
)

// bin counts the rows (or columns) that have From to To non-zeros.
type bin struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	Rows int64 `json:"count"`
}

func rowCounts(p *sparse.Pattern) []int64 {
	n := make([]int64, p.Rows)
	for i := range n {
		n[i] = p.RowPtr[i+1] - p.RowPtr[i]
	}
	return n
}

func colCounts(p *sparse.Pattern) []int64 {
	n := make([]int64, p.Cols)
	for _, j := range p.ColIdx {
		n[j]++
	}
	return n
}

// histogram sorts counts into bins 0, 1, 2–3, 4–7, …, from the first to the last that is not empty.
func histogram(counts []int64) []bin {
	var all [65]bin
	for b := range all {
		if b > 0 {
			all[b].From = 1 << (b - 1)
			all[b].To = all[b].From*2 - 1
		}
	}
	first, last := len(all), -1
	for _, n := range counts {
		b := bits.Len64(uint64(n))
		all[b].Rows++
		first, last = min(first, b), max(last, b)
	}
	if last < 0 {
		return nil
	}
	return all[first : last+1]
}

// drawHistogram draws bins as bars, a line each.
func drawHistogram(bins []bin) string {
	const width = 40
	most := int64(1)
	for _, b := range bins {
		most = max(most, b.Rows)
	}
	var out strings.Builder
	for _, b := range bins {
		label := fmt.Sprint(b.From)
		if b.To > b.From {
			label += "–" + fmt.Sprint(b.To)
		}
		// A bar in eighths of a character; what is there is seen.
		eighths := int(float64(b.Rows) / float64(most) * width * 8)
		if b.Rows > 0 {
			eighths = max(eighths, 1)
		}
		bar := strings.Repeat("█", eighths/8)
		if rest := eighths % 8; rest > 0 {
			bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
		}
		fmt.Fprintf(&out, "%17s %9s %s\n", label, count(b.Rows), bar)
	}
	return out.String()
}
