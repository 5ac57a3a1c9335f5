package tiling

import (
	"fmt"
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// RowPanels is a pattern cut into panels of rows: the dual of Panels. A segment is the part of a
// column that lies in a panel, a run of non-zeros of the transpose; its Row is a column of the
// original, and its Width a number of rows.
type RowPanels struct {
	Panels
	Transposed *sparse.Pattern
	Perm       []int64 // non-zero q of Transposed is non-zero Perm[q] of the original
}

// Rows cuts p into panels of height rows, T_i. It transposes p, which need not be sorted but must be
// valid. Where the transpose is at hand, Columns of that is the same.
func Rows(p *sparse.Pattern, height, threads int) (*RowPanels, error) {
	t, perm := p.Transpose(threads)
	panels, err := Columns(t, height, threads)
	if err != nil {
		return nil, err
	}
	return &RowPanels{Panels: *panels, Transposed: t, Perm: perm}, nil
}

// ActiveColumns returns the number of columns with a non-zero in each panel of height rows, without
// transposing. p must be valid and need not be sorted.
func ActiveColumns(p *sparse.Pattern, height, threads int) ([]int64, error) {
	if height < 1 {
		return nil, fmt.Errorf("tiling.ActiveColumns: panels of %d rows; want at least 1", height)
	}
	panels := 0
	if p.Rows > 0 {
		panels = (p.Rows-1)/height + 1
	}
	active := make([]int64, panels)
	// Each chunk remembers for each column the panel that saw it last; no more chunks than keep
	// that within the size of the pattern.
	chunks := int(max(1, min(int64(parallel.Threads(threads)), int64(panels), p.NNZ()/int64(max(p.Cols, 1)))))
	chunkLoop(threads, chunks, func(c int) {
		seen := make([]int32, p.Cols)
		for q := panels * c / chunks; q < panels*(c+1)/chunks; q++ {
			stamp := int32(q%math.MaxInt32) + 1
			lo, hi := p.RowPtr[q*height], p.RowPtr[min((q+1)*height, p.Rows)]
			for _, j := range p.ColIdx[lo:hi] {
				if seen[j] != stamp {
					seen[j] = stamp
					active[q]++
				}
			}
		}
	})
	return active, nil
}
