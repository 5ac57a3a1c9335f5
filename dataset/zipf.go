package dataset

import (
	"context"

	"sddmmkit/sparse"
)

// zipfSigma spreads row lengths as in collections of documents: the longest of 300 000 rows is
// about a hundred times as long as the median.
const zipfSigma = 1

// longestSkewed is the most entries that a row of a "skewed" matrix has: beyond that it is nearly full, and
// columns hardly differ.
func longestSkewed(cols int) int64 { return max(int64(cols)*6/10, 1) }

// fromSkewed generates a pattern with lognormal row lengths and Zipf-like columns, both shuffled.
func fromSkewed[T sparse.Float](ctx context.Context, s Spec, threads int) (*sparse.COO[T], error) {
	p := skewed{rows: s.Rows, cols: s.Cols, nnz: s.NNZ, sigma: zipfSigma, exponent: s.Exponent, most: int64(s.Cols), seed: s.Seed}
	if s.Kind == "skewed" {
		p.sigma, p.most, p.continuous = s.Sigma, longestSkewed(s.Cols), true
	}
	ptr, cols, err := p.pattern(ctx, threads)
	if err != nil {
		return nil, err
	}
	values, err := uniformValues[T](ctx, s.NNZ, s.Seed, threads)
	if err != nil {
		return nil, err
	}
	m := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: s.Rows, Cols: s.Cols, RowPtr: ptr, ColIdx: cols}, Val: values}
	return m.ToCOO(), nil
}
