package factors

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Popularity ranks items by how many users have them: the same list for everybody, but for what
// each has seen. It is the baseline that a recommender must beat, and what to offer a user of
// whom nothing is known.
type Popularity struct {
	users, items int
	names        []string
	order        []candidate // all items, best first
}

// NewPopularity counts the items of a training pattern. Names are those of the items, nil for none.
func NewPopularity(train *sparse.Pattern, names []string) (*Popularity, error) {
	if err := checkPattern("factors.NewPopularity", "training items", train, train.Rows, train.Cols); err != nil {
		return nil, err
	}
	if names != nil && len(names) != train.Cols {
		return nil, fmt.Errorf("factors: %d names for %d items; want as many, or none", len(names), train.Cols)
	}
	count := make([]int64, train.Cols)
	for at, i := range train.ColIdx {
		if i < 0 || int(i) >= len(count) {
			return nil, fmt.Errorf("factors: non-zero %d is in column %d of %d; validate the pattern first", at, i, len(count))
		}
		count[i]++
	}
	order := make([]candidate, len(count))
	for i, n := range count {
		order[i] = candidate{item: int32(i), score: float64(n)}
	}
	slices.SortFunc(order, compare)
	return &Popularity{users: train.Rows, items: train.Cols, names: names, order: order}, nil
}

// TopNUsers returns the n most popular items that opt lets each user have; Score is the number of users
// who have the item, and an item nobody has is cold. Popularity carries no seen items: only
// opt.Exclude hides what a user has seen.
func (p *Popularity) TopNUsers(ctx context.Context, users []int, n int, opt TopOptions) ([][]Scored, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	if opt.Exclude != nil {
		if err := checkPattern("factors.TopOptions", "excluded items", opt.Exclude, p.users, p.items); err != nil {
			return nil, err
		}
	}
	allowed := p.allowed(opt)
	hidden := make([][]int32, len(users))
	for k, u := range users {
		if u < 0 || u >= p.users {
			return nil, fmt.Errorf("factors: there is no user %d: there are %d, counted from 0", u, p.users)
		}
		if opt.Exclude != nil {
			row, err := patternRow(opt.Exclude, u)
			if err != nil {
				return nil, err
			}
			hidden[k] = sortedUnion(row, nil)
		}
	}
	lists := make([][]Scored, len(users))
	err := parallel.Units(ctx, opt.Threads, len(users), func(k int) {
		list := make([]Scored, 0, min(n, len(allowed)))
		for _, c := range allowed {
			if len(list) == n {
				break
			}
			if _, hide := slices.BinarySearch(hidden[k], c.item); !hide {
				list = append(list, c.named(p.names))
			}
		}
		lists[k] = list
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// allowed returns the items that may be returned to somebody, best first.
func (p *Popularity) allowed(opt TopOptions) []candidate {
	items := p.order
	if !opt.IncludeCold { // cold items are at the end
		items = items[:sort.Search(len(items), func(k int) bool { return items[k].score == 0 })]
	}
	if opt.Filter == nil {
		return items
	}
	var kept []candidate
	for _, c := range items {
		if opt.Filter(int(c.item)) {
			kept = append(kept, c)
		}
	}
	return kept
}
