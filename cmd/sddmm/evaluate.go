package main

import (
	"context"

	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// listLength is the N of Recall@N and NDCG@N, as in the published comparisons.
const listLength = 20

// evaluate adds the test figures of a model to e: errors of ratings, or hits of lists.
func evaluate[T sparse.Float](ctx context.Context, e *doneEvent, data *problem[T], m *factors.Model[T], implicit bool, threads int) error {
	if !implicit {
		return evaluateRatings(ctx, e, data, m, threads)
	}
	seen := &data.train.Pattern
	if data.validation != nil {
		// Items of the validation part are known not to be in the test; leave them out of lists too.
		var err error
		if seen, err = union(data.train, data.validation); err != nil {
			return err
		}
	}
	opt := factors.EvaluateOptions{N: listLength, Threads: threads}
	rank, err := factors.Evaluate(ctx, m, seen, &data.test.Pattern, opt)
	if err != nil {
		return err
	}
	popular, err := factors.NewPopularity(&data.train.Pattern, data.items)
	if err != nil {
		return err
	}
	base, err := factors.Evaluate(ctx, popular, seen, &data.test.Pattern, opt)
	if err != nil {
		return err
	}
	e.rankingFigures = &rankingFigures{Recall: number(rank.Recall), NDCG: number(rank.NDCG),
		PopularityRecall: number(base.Recall), PopularityNDCG: number(base.NDCG), Users: rank.Users}
	return nil
}

// evaluateRatings compares predictions with all test ratings, and with those of users and items
// that the model has learnt something about: of others it can only say its mean.
func evaluateRatings[T sparse.Float](ctx context.Context, e *doneEvent, data *problem[T], m *factors.Model[T], threads int) error {
	opt := factors.AccuracyOptions{Threads: threads}
	acc, err := m.Accuracy(ctx, data.test, opt)
	if err != nil {
		return err
	}
	e.TestRMSE, e.TestMAE, e.TestRMSEWarm = number(acc.RMSE), number(acc.MAE), number(acc.RMSE)
	warm := warmRatings(data.train, data.test)
	if e.TestCold = data.test.NNZ() - warm.NNZ(); e.TestCold == 0 {
		return nil
	}
	if e.TestRMSEWarm = unknown; warm.NNZ() == 0 {
		return nil
	}
	if acc, err = m.AccuracyCOO(ctx, warm, opt); err == nil {
		e.TestRMSEWarm = number(acc.RMSE)
	}
	return err
}

// warmRatings returns the test ratings whose user and item both have training ratings.
func warmRatings[T sparse.Float](train, test *sparse.CSR[T]) *sparse.COO[T] {
	known := make([]bool, train.Cols)
	for _, i := range train.ColIdx {
		known[i] = true
	}
	warm := &sparse.COO[T]{Rows: test.Rows, Cols: test.Cols}
	for u := range test.Rows {
		if train.RowPtr[u] == train.RowPtr[u+1] {
			continue
		}
		for at := test.RowPtr[u]; at < test.RowPtr[u+1]; at++ {
			if i := test.ColIdx[at]; known[i] {
				warm.Row, warm.Col, warm.Val = append(warm.Row, int32(u)), append(warm.Col, i), append(warm.Val, test.Val[at])
			}
		}
	}
	return warm
}

// union returns the pattern of the cells of either matrix.
func union[T sparse.Float](a, b *sparse.CSR[T]) (*sparse.Pattern, error) {
	x, y := a.ToCOO(), b.ToCOO()
	all := &sparse.COO[T]{Rows: x.Rows, Cols: x.Cols,
		Row: append(x.Row[:len(x.Row):len(x.Row)], y.Row...),
		Col: append(x.Col[:len(x.Col):len(x.Col)], y.Col...),
		Val: append(x.Val[:len(x.Val):len(x.Val)], y.Val...)}
	m, err := sparse.FromCOO(all, sparse.BuildOptions{Duplicates: sparse.LastDuplicate})
	if err != nil {
		return nil, err
	}
	return &m.Pattern, nil
}
