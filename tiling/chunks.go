package tiling

import (
	"context"
	"sort"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// cutRows cuts the rows of p into chunks of about equal numbers of non-zeros plus rows: chunk c has
// rows [cuts[c], cuts[c+1]). Rows stay whole.
func cutRows(p *sparse.Pattern, chunks int) []int {
	cuts := make([]int, chunks+1)
	cost := p.NNZ() + int64(p.Rows)
	for c := 1; c < chunks; c++ {
		want := cost / int64(chunks) * int64(c)
		cuts[c] = max(cuts[c-1], sort.Search(p.Rows, func(i int) bool { return p.RowPtr[i]+int64(i) >= want }))
	}
	cuts[chunks] = p.Rows
	return cuts
}

// chunkLoop calls body for each chunk, several at the same time.
func chunkLoop(threads, chunks int, body func(c int)) {
	_ = parallel.Units(context.Background(), threads, chunks, body)
}
