package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sddmmkit/algos/als"
	"sddmmkit/backend"
	"sddmmkit/dataset"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// recommendNew makes lists for the users of --ratings, or those of them that --user names.
func recommendNew[T sparse.Float](ctx context.Context, a *app, f *recommendFlags, m *factors.Model[T], known *side) ([]recommendation, error) {
	// Both minimise the same loss, of which a new user's factors are the exact minimum.
	if m.Algo != "als" && m.Algo != "ccd" {
		return nil, fmt.Errorf("the model was made by %q, and new users can be solved for models of als and ccd; train it again with their ratings", m.Algo)
	}
	opt, err := f.readFlags.options()
	if err != nil {
		return nil, err
	}
	set, err := readSource[T](ctx, f.ratings, opt)
	if err != nil {
		return nil, err
	}
	people := newSide("user", f.ratings, names(set.Rows), set.COO.Rows)
	index, err := chosen(people, f.users)
	if err != nil {
		return nil, err
	}
	ratings, err := matchItems(a, set, m, known)
	if err != nil {
		return nil, err
	}
	dev, err := backend.Open(f.device, backend.Options{Threads: f.threads})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	vectors, biases, err := als.FoldIn(ctx, dev, m, ratings)
	if err != nil {
		return nil, err
	}
	out := make([]recommendation, 0, len(index))
	for _, u := range index {
		seen := ratings.Row(u)
		var bias float64
		if biases != nil {
			bias = float64(biases[u])
		}
		hidden := seen
		if !f.excludeSeen {
			hidden = nil
		}
		top, err := m.TopNFor(ctx, vectors.Row(u), bias, hidden, f.n, factors.TopOptions{Threads: f.threads})
		if err != nil {
			return nil, err
		}
		out = append(out, recommendation{Event: "recommendation", User: people.name(u), RankedBy: "model", Seen: len(seen), Items: known.list(top)})
	}
	return out, nil
}

// chosen returns the indices of the given ids, of everybody when there are none.
func chosen(people *side, ids []string) ([]int, error) {
	if len(ids) == 0 {
		all := make([]int, people.count)
		for u := range all {
			all[u] = u
		}
		return all, nil
	}
	index := make([]int, len(ids))
	for k, id := range ids {
		var err error
		if index[k], err = people.find(id); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// matchItems returns the ratings with the columns of the model's items. Items that the model does
// not have are reported and left out; ratings without a single known item are an error.
func matchItems[T sparse.Float](a *app, set *dataset.Set[T], m *factors.Model[T], known *side) (*sparse.CSR[T], error) {
	to := make([]int32, set.COO.Cols)
	var unknown []string
	for j := range to {
		id := fmt.Sprint(j)
		if set.Cols != nil {
			id = set.Cols.Name(j)
		}
		i, ok := known.lookup(id)
		if to[j] = int32(i); !ok {
			to[j] = -1
			unknown = append(unknown, id)
		}
	}
	c := &sparse.COO[T]{Rows: set.COO.Rows, Cols: m.Items.Rows}
	missing := map[int32]bool{}
	for p, j := range set.COO.Col {
		if to[j] < 0 {
			missing[j] = true
			continue
		}
		c.Row, c.Col, c.Val = append(c.Row, set.COO.Row[p]), append(c.Col, to[j]), append(c.Val, set.COO.Val[p])
	}
	if len(c.Val) == 0 {
		return nil, fmt.Errorf("%s: none of its items is in the model; ids are those of the training file, such as %s",
			set.Name, strings.Join(known.samples(), ", "))
	}
	if len(missing) > 0 {
		// Columns of index formats may be unknown without having an entry.
		unknown = unknown[:0]
		for j := range missing {
			id := fmt.Sprint(j)
			if set.Cols != nil {
				id = set.Cols.Name(int(j))
			}
			unknown = append(unknown, fmt.Sprintf("%q", id))
		}
		slices.Sort(unknown)
		more := ""
		if len(unknown) > 5 {
			more = ", …"
		}
		a.notef("%s: %s items are not in the model and were skipped: %s%s", set.Name, count(len(unknown)), strings.Join(unknown[:min(5, len(unknown))], ", "), more)
	}
	dup := sparse.LastDuplicate
	if m.Implicit {
		dup = sparse.SumDuplicates
	}
	return sparse.FromCOO(c, sparse.BuildOptions{Duplicates: dup})
}
