package factors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"testing"

	"sddmmkit/dense"
)

var bg = context.Background()

// slowTop sorts all items that may be returned.
func slowTop(scores []float64, n int, hide func(i int) bool) []int {
	var items []int
	for i, s := range scores {
		if !math.IsNaN(s) && !hide(i) {
			items = append(items, i)
		}
	}
	sort.SliceStable(items, func(a, b int) bool { return scores[items[a]] > scores[items[b]] })
	return items[:min(n, len(items))]
}

func indices(list []Scored) []int {
	var is []int
	for _, s := range list {
		is = append(is, s.Item)
	}
	return is
}

func TestTopN(t *testing.T) {
	t.Run("float32", testTopN[float32])
	t.Run("float64", testTopN[float64])
}

// testTopN compares lists with sorting everything, over sizes around the blocks, with ties.
func testTopN[T dense.Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct{ users, items, rank, n int }{
		{1, 1, 1, 1},
		{1, 10, 1, 3},
		{3, 50, 1, 100},              // n beyond the items
		{usersPerBlock, 100, 4, 10},  // one full block
		{usersPerBlock + 1, 9, 5, 9}, // one user more
		{40, 2100, 8, 20},            // more than one block of items
		{5, 700, 33, 700},
		{2, 50, 3, math.MaxInt},
	} {
		m := randomModel[T](c.users, c.items, c.rank, uint64(c.items))
		if c.rank == 1 || c.rank == 4 { // few values: many ties
			for _, v := range [][]T{m.Users.Data, m.Items.Data, m.UserBias, m.ItemBias} {
				for i := range v {
					v[i] = T(rng.IntN(3) - 1)
				}
			}
		}
		m.Seen = randomPattern(c.users, c.items, 0.2, 5)
		other := randomPattern(c.users, c.items, 0.1, 6)
		filter := func(i int) bool { return i%5 != 3 }
		users := rng.Perm(c.users)
		users = append(users, users[0]) // a user twice
		for _, opt := range []TopOptions{
			{},
			{IncludeSeen: true},
			{IncludeSeen: true, IncludeCold: true},
			{Exclude: other},
			{Exclude: other, IncludeSeen: true},
			{Exclude: other, Filter: filter, IncludeCold: true},
		} {
			var first [][]Scored
			for _, threads := range []int{1, 3} {
				opt.Threads = threads
				lists, err := m.TopNUsers(bg, users, c.n, opt)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = lists
				} else if !reflect.DeepEqual(first, lists) {
					t.Errorf("%+v: lists depend on the number of threads", c)
				}
			}
			scores := make([]float64, c.items)
			for k, u := range users {
				if err := m.ScoreUser(u, scores); err != nil {
					t.Fatal(err)
				}
				want := slowTop(scores, c.n, func(i int) bool {
					return !opt.IncludeSeen && slices.Contains(m.Seen.Row(u), int32(i)) ||
						opt.Exclude != nil && slices.Contains(opt.Exclude.Row(u), int32(i)) ||
						opt.Filter != nil && !opt.Filter(i) ||
						!opt.IncludeCold && m.ColdItem(i)
				})
				if got := indices(first[k]); !slices.Equal(got, want) {
					t.Fatalf("%+v: user %d has %v, want %v", c, u, got, want)
				}
				for _, s := range first[k] {
					if s.Score != scores[s.Item] || s.Name != m.ItemName(s.Item) {
						t.Fatalf("%+v: user %d: %+v, but the score is %v", c, u, s, scores[s.Item])
					}
				}
			}
			one, err := m.TopN(bg, users[0], c.n, opt)
			if err != nil || !reflect.DeepEqual(one, first[0]) {
				t.Errorf("%+v: TopN and TopNUsers differ: %v, %v and %v", c, err, one, first[0])
			}
		}
	}
}

func TestTopNFor(t *testing.T) {
	m := randomModel[float32](4, 300, 6, 9)
	m.Seen = randomPattern(4, 300, 0.3, 9)
	for u := range 4 {
		want, err := m.TopN(bg, u, 25, TopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		seen := slices.Clone(m.Seen.Row(u))
		before := slices.Clone(seen)
		got, err := m.TopNFor(bg, m.Users.Row(u), float64(m.UserBias[u]), seen, 25, TopOptions{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("user %d: %v, %v; as a user of the model %v", u, err, got, want)
		}
		if !slices.Equal(seen, before) {
			t.Error("the caller's seen items were changed")
		}
	}
	// Items that do not exist hide nothing.
	list, err := m.TopNFor(bg, m.Users.Row(0), 0, []int32{-5, 300, 7, 7}, 300, TopOptions{})
	if err != nil || len(list) != 299 || slices.Contains(indices(list), 7) {
		t.Errorf("%d items, %v; want all but item 7", len(list), err)
	}
}

// An item by another number is the same item: permuting items permutes lists.
func TestTopNPermuted(t *testing.T) {
	m := randomModel[float64](6, 400, 9, 11)
	m.Seen = randomPattern(6, 400, 0.3, 11)
	perm := rand.New(rand.NewPCG(1, 1)).Perm(400)
	p := *m
	p.Items = dense.New[float64](400, 9)
	p.ItemBias = make([]float64, 400)
	for i, q := range perm {
		copy(p.Items.Row(q), m.Items.Row(i))
		p.ItemBias[q] = m.ItemBias[i]
	}
	seen := *m.Seen
	seen.ColIdx = make([]int32, len(m.Seen.ColIdx))
	for at, i := range m.Seen.ColIdx {
		seen.ColIdx[at] = int32(perm[i])
	}
	p.Seen = &seen
	for u := range 6 {
		a, err := m.TopN(bg, u, 50, TopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.TopN(bg, u, 50, TopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range a {
			if b[k].Item != perm[a[k].Item] || b[k].Score != a[k].Score {
				t.Fatalf("user %d, place %d: %+v became %+v", u, k, a[k], b[k])
			}
		}
	}
}

func TestTopNNaN(t *testing.T) {
	m := randomModel[float64](2, 30, 3, 1)
	m.Items.Set(4, 1, math.NaN())
	m.Items.Set(0, 0, math.NaN())
	m.ItemBias[29] = math.NaN()
	m.ItemBias[12] = math.Inf(1)
	m.ItemBias[13] = math.Inf(-1)
	list, err := m.TopN(bg, 0, 30, TopOptions{})
	if err != nil || len(list) != 27 {
		t.Fatalf("%d items, %v; want 27", len(list), err)
	}
	for _, s := range list {
		if math.IsNaN(s.Score) {
			t.Errorf("%+v", s)
		}
	}
	if list[0].Item != 12 || list[26].Item != 13 {
		t.Errorf("infinite scores at the wrong ends: %+v, %+v", list[0], list[26])
	}
	m.Users.Set(1, 0, math.NaN())
	if list, err = m.TopN(bg, 1, 5, TopOptions{}); err != nil || len(list) != 0 {
		t.Errorf("a user of NaN: %v, %v; want an empty list", list, err)
	}
}

func TestTopNNothingLeft(t *testing.T) {
	m := randomModel[float64](3, 20, 3, 1)
	all := randomPattern(3, 20, 2, 1)
	for name, opt := range map[string]TopOptions{
		"excluded": {Exclude: all},
		"filtered": {Filter: func(int) bool { return false }},
	} {
		list, err := m.TopN(bg, 1, 5, opt)
		if err != nil || list == nil || len(list) != 0 {
			t.Errorf("%s: %v, %v; want an empty list", name, list, err)
		}
	}
	m.Seen = all
	if list, err := m.TopN(bg, 1, 5, TopOptions{}); err != nil || len(list) != 0 {
		t.Errorf("seen: %v, %v; want an empty list", list, err)
	}
	m = randomModel[float64](1, 0, 3, 1)
	if list, err := m.TopN(bg, 0, 5, TopOptions{}); err != nil || len(list) != 0 {
		t.Errorf("no items: %v, %v; want an empty list", list, err)
	}
	if lists, err := m.TopNUsers(bg, nil, 5, TopOptions{}); err != nil || len(lists) != 0 {
		t.Errorf("no users: %v, %v", lists, err)
	}
}

// A cold item's score is the user's average, above items the user will dislike.
func TestTopNCold(t *testing.T) {
	m := &Model[float32]{Rank: 1, Mean: 3,
		Users: dense.Matrix[float32]{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 0}},
		Items: dense.Matrix[float32]{Rows: 3, Cols: 1, Stride: 1, Data: []float32{-1, 0, 1}}}
	for _, c := range []struct {
		user int
		cold bool
		want []int
	}{{0, false, []int{2, 0}}, {0, true, []int{2, 1, 0}}, {1, false, []int{0, 2}}, {1, true, []int{0, 1, 2}}} {
		list, err := m.TopN(bg, c.user, 9, TopOptions{IncludeCold: c.cold})
		if got := indices(list); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("user %d, cold %v: %v, %v; want %v", c.user, c.cold, got, err, c.want)
		}
	}
}

func TestTopNErrors(t *testing.T) {
	m := randomModel[float64](3, 20, 3, 1)
	call := func(u, n int, opt TopOptions) error {
		_, err := m.TopN(bg, u, n, opt)
		return err
	}
	wantError(t, call(0, 0, TopOptions{}), "0 items", "at least 1")
	wantError(t, call(0, -2, TopOptions{}), "-2 items")
	wantError(t, call(3, 1, TopOptions{}), "user 3", "3 users")
	wantError(t, call(-1, 1, TopOptions{}), "user -1")
	wantError(t, call(0, 1, TopOptions{Exclude: randomPattern(20, 3, 1, 1)}), "20×3", "3 users")
}

func TestTopNBadModel(t *testing.T) {
	m := randomModel[float64](3, 20, 3, 1)
	bad := randomPattern(3, 20, 1, 1)
	bad.RowPtr[1], bad.RowPtr[2] = 50, 10
	_, err := m.TopN(bg, 1, 1, TopOptions{Exclude: bad})
	wantError(t, err, "row 1", "validate")
	_, err = m.TopNFor(bg, make([]float64, 2), 0, nil, 1, TopOptions{})
	wantError(t, err, "2 factors", "rank 3")
	_, err = m.TopNFor(bg, make([]float64, 3), 0, nil, 0, TopOptions{})
	wantError(t, err, "0 items")
	_, err = m.TopNFor(bg, make([]float64, 3), 0, nil, 1, TopOptions{Exclude: randomPattern(3, 20, 1, 1)})
	wantError(t, err, "Exclude")
	m.Seen = bad
	_, err = m.TopN(bg, 1, 1, TopOptions{})
	wantError(t, err, "row 1", "validate")
	m.Seen = nil
	m.ItemBias = m.ItemBias[:4]
	_, err = m.TopN(bg, 1, 1, TopOptions{})
	wantError(t, err, "4 item biases")
}

func TestTopNCancelled(t *testing.T) {
	m := randomModel[float64](3, 20, 3, 1)
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := m.TopN(ctx, 0, 5, TopOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Cancelled half way: the list must not be handed out as if it were whole.
	big := randomModel[float32](1, 300_000, 2, 1)
	ctx, cancel = context.WithCancel(bg)
	_, err := big.TopN(ctx, 0, 5, TopOptions{Filter: func(i int) bool {
		if i == 299_999 {
			cancel()
		}
		return true
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled half way: %v", err)
	}
}

// The heap keeps the same candidates in whatever order they come.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		cs := make([]candidate, rng.IntN(40))
		for i := range cs {
			cs[i] = candidate{item: int32(i), score: float64(rng.IntN(8))}
			if rng.IntN(9) == 0 {
				cs[i].score = math.NaN()
			}
		}
		want := slices.DeleteFunc(slices.Clone(cs), func(c candidate) bool { return math.IsNaN(c.score) })
		slices.SortFunc(want, compare)
		b := best{n: 1 + rng.IntN(20)}
		want = want[:min(len(want), b.n)]
		rng.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		for _, c := range cs {
			if b.admits(c) {
				b.offer(c)
			}
		}
		got := b.list(nil)
		if len(got) != len(want) {
			t.Fatalf("%d kept, want %d", len(got), len(want))
		}
		for k := range got {
			if got[k].Item != int(want[k].item) || got[k].Score != want[k].score {
				t.Fatalf("place %d: %+v, want %+v", k, got[k], want[k])
			}
		}
	}
}
