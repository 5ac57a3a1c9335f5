package dataset

import (
	"context"

	"sddmmkit/sparse"
)

// zipfSigma spreads row lengths as in collections of documents: the longest of 300 000 rows is
// about a hundred times as long as the median.
const zipfSigma = 1

// zipf generates a pattern with lognormal row lengths and Zipf-like columns, both shuffled.
func zipf[T sparse.Float](ctx context.Context, s Spec, threads int) (*sparse.COO[T], error) {
	ptr, cols, err := skewed{rows: s.Rows, cols: s.Cols, nnz: s.NNZ, sigma: zipfSigma,
		exponent: s.Exponent, seed: s.Seed}.pattern(ctx, threads)
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
