package main

import (
	"cmp"
	"context"
	"slices"

	"sddmmkit/factors"
	"sddmmkit/sparse"
)

const exampleItems = 5

// showExample prints what one user liked and what the model recommends to them.
func showExample[T sparse.Float](ctx context.Context, a *app, data *problem[T], m *factors.Model[T]) error {
	if a.json {
		return nil
	}
	u := exampleUser(data.train)
	if u < 0 {
		return nil
	}
	lo, hi := data.train.RowPtr[u], data.train.RowPtr[u+1]
	items, ratings := data.train.ColIdx[lo:hi], data.train.Val[lo:hi]
	order := make([]int, len(items))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(ratings[y], ratings[x]) })
	list, err := m.TopN(ctx, u, exampleItems, factors.TopOptions{})
	if err != nil {
		return err
	}
	a.printf("\nFor example user %s, who rated %s items and liked\n", printable(m.UserName(u)), count(len(items)))
	for _, k := range order[:min(exampleItems, len(order))] {
		a.printf("  %4.2f  %s\n", float64(ratings[k]), printable(m.ItemName(int(items[k]))))
	}
	a.printf("should like, by the ratings that the model predicts\n")
	for _, s := range list {
		a.printf("  %4.2f  %s\n", s.Score, printable(s.Name))
	}
	a.printf("\nNext: sddmm %s --train FILE --split 0.1 --out DIR, then sddmm recommend --model DIR --user ID\n", m.Algo)
	return nil
}

// exampleUser returns the first user with enough ratings to have a taste and few enough for a
// list to be read, -1 when there is none.
func exampleUser[T sparse.Float](m *sparse.CSR[T]) int {
	for u := range m.Rows {
		if n := m.RowPtr[u+1] - m.RowPtr[u]; n >= 20 && n <= 100 {
			return u
		}
	}
	return -1
}
