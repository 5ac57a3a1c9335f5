package tiling

import "sddmmkit/sparse"

// Popular are the columns of a pattern by falling count.
type Popular struct {
	Order
	Counts []int64 // of the columns in that order
}

// NewPopular counts and orders the columns of p.
func NewPopular(p *sparse.Pattern, threads int) *Popular {
	counts := ColumnCounts(p, threads)
	o := byCount(counts)
	sorted := make([]int64, len(counts))
	for place, old := range o.Old {
		sorted[place] = counts[old]
	}
	return &Popular{Order: o, Counts: sorted}
}

// PanelCount is the size of a panel.
type PanelCount struct {
	NNZ    int64   // non-zeros
	Active float64 // rows that are active in it
}

// NewPanelCount returns the size of a panel with nnz non-zeros, of which one of every so many rows were looked at and seen were
// active.
func NewPanelCount(nnz int64, seen, every int) PanelCount {
	// Of a panel with few non-zeros no active row may have been seen.
	return PanelCount{NNZ: nnz, Active: min(max(float64(seen)*float64(every), 1), float64(nnz))}
}

// SampleEvery returns the distance between the rows of a pattern with nnz non-zeros that Panels looks at: they have about a
// million non-zeros.
func SampleEvery(nnz int64) int { return int(nnz>>20) + 1 }

// Panels returns the sizes of the panels of width popular columns, for each width. Active rows are counted in every so
// many rows of p, evenly spaced, and scaled up.
func (c *Popular) Panels(p *sparse.Pattern, widths []int) [][]PanelCount {
	type panel struct {
		nnz          int64
		active, last int // rows that were seen to be active, and the number of the last of them, from 1
	}
	all := make([][]panel, len(widths))
	for n, width := range widths {
		all[n] = make([]panel, (p.Cols+width-1)/width)
		for place, count := range c.Counts {
			all[n][place/width].nnz += count
		}
	}
	every := SampleEvery(p.NNZ())
	for i := 0; i < p.Rows; i += every {
		for _, j := range p.Row(i) {
			r := int(c.New[j])
			for n, width := range widths {
				if q := &all[n][r/width]; q.last != i+1 {
					q.last = i + 1
					q.active++
				}
			}
		}
	}
	out := make([][]PanelCount, len(widths))
	for n, panels := range all {
		out[n] = make([]PanelCount, len(panels))
		for q, p := range panels {
			out[n][q] = NewPanelCount(p.nnz, p.active, every)
		}
	}
	return out
}
