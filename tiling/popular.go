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

// sampleNNZ is the number of non-zeros that Panels looks at, about.
const sampleNNZ = 1 << 20

// Panels returns the sizes of the panels of width popular columns, for each width. Active rows are counted in every so
// many rows of p, evenly spaced so that about a million non-zeros are looked at, and scaled up.
func (c *Popular) Panels(p *sparse.Pattern, widths []int) [][]PanelCount {
	out := make([][]PanelCount, len(widths))
	seen := make([][]int, len(widths))
	for n, width := range widths {
		panels := (p.Cols + width - 1) / width
		out[n], seen[n] = make([]PanelCount, panels), make([]int, panels)
		for place, count := range c.Counts {
			out[n][place/width].NNZ += count
		}
	}
	every := int(p.NNZ()/sampleNNZ) + 1
	for i := 0; i < p.Rows; i += every {
		for _, j := range p.Row(i) {
			r := int(c.New[j])
			for n, width := range widths {
				if q := r / width; seen[n][q] != i+1 {
					seen[n][q] = i + 1
					out[n][q].Active += float64(every)
				}
			}
		}
	}
	for _, panels := range out {
		for q := range panels {
			// Of a panel with few non-zeros no active row may have been seen.
			panels[q].Active = min(max(panels[q].Active, 1), float64(panels[q].NNZ))
		}
	}
	return out
}
