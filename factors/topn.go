package factors

import (
	"context"
	"fmt"
	"slices"

	"sddmmkit/dense"
	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// TopOptions says which items a top-N list may hold. The zero value leaves out what the user
// has seen according to the model, and items the model knows nothing about.
type TopOptions struct {
	// Exclude is an M×N pattern: items in row u are never returned to user u, beside those of
	// the model's Seen.
	Exclude *sparse.Pattern

	// IncludeSeen lets items of the model's Seen be returned.
	IncludeSeen bool

	// IncludeCold lets cold items be returned. Without ratings an item has zero factors, and its
	// score is the user's average: in the middle of the list, with nothing behind it.
	IncludeCold bool

	// Filter, when not nil, is asked once per item and call; items it refuses are returned to nobody.
	Filter func(item int) bool

	// Threads is the number of goroutines; 0 means all CPUs.
	Threads int
}

// TopN returns the n items with the highest scores for user u, best first, and the item of lower
// index first among equal scores. Items excluded by opt are never returned, nor are items whose
// score is NaN; the list is shorter than n when fewer are left. The slice is the caller's.
func (m *Model[T]) TopN(ctx context.Context, u, n int, opt TopOptions) ([]Scored, error) {
	lists, err := m.TopNUsers(ctx, []int{u}, n, opt)
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// TopNUsers is TopN for many users: list k is that of users[k], the same as TopN's. It takes blocks of
// users past blocks of items, so that item factors are read from cache, and runs on opt.Threads
// goroutines; when ctx is done it returns its error.
func (m *Model[T]) TopNUsers(ctx context.Context, users []int, n int, opt TopOptions) ([][]Scored, error) {
	if err := m.checkTop(n, opt); err != nil {
		return nil, err
	}
	queries := make([]query, len(users))
	for k, u := range users {
		if err := m.checkUser(u); err != nil {
			return nil, err
		}
		hidden, err := m.hidden(u, opt)
		if err != nil {
			return nil, err
		}
		queries[k] = query{base: m.base(u), hidden: hidden}
	}
	return m.top(ctx, queries, n, opt, func(k int) []T { return m.Users.Row(users[k]) })
}

// TopNFor is TopN for somebody who is not in the model: x is their vector of K factors, bias their
// bias (0 in a model without), both from folding in; seen lists the items never to be
// returned. opt.Exclude must be nil, for it has rows of the model's users only.
func (m *Model[T]) TopNFor(ctx context.Context, x []T, bias float64, seen []int32, n int, opt TopOptions) ([]Scored, error) {
	if err := m.checkTop(n, opt); err != nil {
		return nil, err
	}
	if len(x) != m.Rank {
		return nil, fmt.Errorf("factors: a vector of %d factors for a model of rank %d", len(x), m.Rank)
	}
	if opt.Exclude != nil {
		return nil, fmt.Errorf("factors: TopOptions.Exclude has rows of the model's users only; give the items to leave out as seen")
	}
	hidden := slices.Clone(seen)
	slices.Sort(hidden)
	queries := []query{{base: m.Mean + bias, hidden: hidden}}
	lists, err := m.top(ctx, queries, n, opt, func(int) []T { return x })
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

func (m *Model[T]) checkTop(n int, opt TopOptions) error {
	if err := m.checkShape(); err != nil {
		return err
	}
	if err := checkCount(n); err != nil {
		return err
	}
	if opt.Exclude != nil {
		return checkPattern("factors.TopOptions", "excluded items", opt.Exclude, m.Users.Rows, m.Items.Rows)
	}
	return nil
}

func checkCount(n int) error {
	if n < 1 {
		return fmt.Errorf("factors: a list of %d items was asked for; want at least 1", n)
	}
	return nil
}

// query is one list to be made.
type query struct {
	base   float64 // the part of the score that is the same for all items
	hidden []int32 // items never returned, in increasing order
}

// hidden returns the items that opt hides from user u, in increasing order.
func (m *Model[T]) hidden(u int, opt TopOptions) ([]int32, error) {
	var rows [2][]int32
	var err error
	if m.Seen != nil && !opt.IncludeSeen {
		if rows[0], err = patternRow(m.Seen, u); err != nil {
			return nil, err
		}
	}
	if opt.Exclude != nil {
		if rows[1], err = patternRow(opt.Exclude, u); err != nil {
			return nil, err
		}
	}
	return sortedUnion(rows[0], rows[1]), nil
}

// sortedUnion returns the elements of a and b in increasing order. It returns a or b itself when
// that will do.
func sortedUnion(a, b []int32) []int32 {
	if len(a) == 0 {
		a, b = b, nil
	}
	if len(b) == 0 && slices.IsSorted(a) {
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return all
}

// allowed returns the items that may be returned to somebody, in increasing order.
func (m *Model[T]) allowed(opt TopOptions) []int32 {
	items := make([]int32, 0, m.Items.Rows)
	for i := range m.Items.Rows {
		if (opt.IncludeCold || !m.ColdItem(i)) && (opt.Filter == nil || opt.Filter(i)) {
			items = append(items, int32(i))
		}
	}
	return items
}

const (
	usersPerBlock = 16      // lists made in one pass over the items, at most
	blockBytes    = 1 << 16 // item factors that stay in cache while the users of a block pass
)

// top makes the list of every query; vector returns the factors of query k.
func (m *Model[T]) top(ctx context.Context, queries []query, n int, opt TopOptions, vector func(k int) []T) ([][]Scored, error) {
	items := m.allowed(opt)
	perBlock := max(blockBytes/(8*m.Rank), 16)
	lists := make([][]Scored, len(queries))
	// Fewer users at a time when there are not enough for all threads; lists do not depend on it.
	threads := parallel.Threads(opt.Threads)
	perPass := min(max((len(queries)+threads-1)/threads, 1), usersPerBlock)
	blocks := (len(queries) + perPass - 1) / perPass
	err := parallel.Units(ctx, threads, blocks, func(block int) {
		first := block * perPass
		qs := queries[first:min(first+perPass, len(queries))]
		// The users' factors are turned to float64 once, the items' in dot.
		x := dense.New[float64](len(qs), m.Rank)
		kept := make([]best, len(qs))
		for k := range qs {
			toFloat64(x.Row(k), vector(first+k))
			kept[k].n = min(n, max(len(items), 1))
		}
		for lo := 0; lo < len(items); lo += perBlock {
			if ctx.Err() != nil {
				return
			}
			part := items[lo:min(lo+perBlock, len(items))]
			for k := range qs {
				m.offerAll(&kept[k], &qs[k], x.Row(k), part)
			}
		}
		for k := range kept {
			lists[first+k] = kept[k].list(m.ItemNames)
		}
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// offerAll shows the items to b. Whether an item is hidden is looked up only when it would enter the
// list, which soon becomes rare.
func (m *Model[T]) offerAll(b *best, q *query, x []float64, items []int32) {
	for _, i := range items {
		c := candidate{item: i, score: q.base + biasOf(m.ItemBias, int(i)) + dot(m.Items.Row(int(i)), x)}
		if !b.admits(c) {
			continue
		}
		if _, hide := slices.BinarySearch(q.hidden, i); hide {
			continue
		}
		b.offer(c)
	}
}
