package factors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sddmmkit/sparse"
)

func patternOf(cols int, rows ...[]int32) *sparse.Pattern {
	p := &sparse.Pattern{Rows: len(rows), Cols: cols, RowPtr: []int64{0}}
	for _, r := range rows {
		p.ColIdx = append(p.ColIdx, r...)
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

// fixed is a ranker with given lists; it remembers the options it was called with.
type fixed struct {
	lists [][]int
	opt   TopOptions
}

func (f *fixed) TopNUsers(_ context.Context, users []int, _ int, opt TopOptions) ([][]Scored, error) {
	f.opt = opt
	out := make([][]Scored, len(users))
	for k, u := range users {
		if f.lists[u] == nil {
			return nil, errors.New("no list")
		}
		for _, i := range f.lists[u] {
			out[k] = append(out[k], Scored{Item: i})
		}
	}
	return out, nil
}

// Three users by hand, N = 3. User 0 has no test items; of user 1's, one is a training item.
func TestEvaluateByHand(t *testing.T) {
	train := patternOf(10, []int32{0}, []int32{9}, []int32{}, []int32{1})
	test := patternOf(10, nil, []int32{4, 9, 2}, []int32{0, 1, 2, 3}, []int32{5})
	f := &fixed{lists: [][]int{
		nil,       // never asked
		{4, 7, 2}, // R = {2, 4}: hits at 1 and 3
		{9, 3},    // R = {0, 1, 2, 3}: hit at 2, and one short
		{6, 7, 8}, // no hit
	}}
	log2 := math.Log2
	got, err := Evaluate(bg, f, train, test, EvaluateOptions{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	ndcg1 := (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3))
	ndcg2 := (1 / log2(3)) / (1/log2(2) + 1/log2(3) + 1/log2(4))
	want := Ranking{
		N: 3, Users: 3,
		Recall:    (2./2 + 1./4 + 0) / 3,
		Precision: (2./3 + 1./3 + 0) / 3,
		NDCG:      (ndcg1 + ndcg2) / 3,
		MAP:       ((1./1+2./3)/2 + (1./2)/3) / 3,
		HitRate:   2. / 3,
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
	if got.N != want.N || got.Users != want.Users || !near(got.Recall, want.Recall) || !near(got.Precision, want.Precision) ||
		!near(got.NDCG, want.NDCG) || !near(got.MAP, want.MAP) || !near(got.HitRate, want.HitRate) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if f.opt.Exclude != train || !f.opt.IncludeCold || !f.opt.IncludeSeen {
		t.Errorf("the ranker was called with %+v", f.opt)
	}

	// The same list, perfect: everything is 1.
	f.lists = [][]int{nil, {2, 4}, {0, 2, 1}, {5}}
	got, err = Evaluate(bg, f, train, test, EvaluateOptions{N: 3})
	if err != nil || got.NDCG != 1 || got.MAP != 1 || got.HitRate != 1 || !near(got.Recall, (1+3./4+1)/3) {
		t.Errorf("perfect lists: %+v, %v", got, err)
	}
}

func TestEvaluateErrors(t *testing.T) {
	train := patternOf(10, []int32{0}, []int32{9})
	test := patternOf(10, []int32{1}, []int32{2})
	call := func(lists [][]int, train, test *sparse.Pattern, n int) error {
		_, err := Evaluate(bg, &fixed{lists: lists}, train, test, EvaluateOptions{N: n})
		return err
	}
	good := [][]int{{1}, {2}}
	wantError(t, call(good, train, test, 0), "0 items")
	wantError(t, call(good, patternOf(9, nil, nil), test, 1), "2×9", "10")
	wantError(t, call(good, train, train, 1), "no user")
	wantError(t, call([][]int{{1, 2}, {2}}, train, test, 1), "user 0", "2 items", "at most 1")
	wantError(t, call([][]int{{1}, {2, 9}}, train, test, 2), "user 1", "item 9", "training item")
	wantError(t, call([][]int{{1, 1}, {2}}, train, test, 2), "user 0", "item 1", "twice")
	wantError(t, call([][]int{{1}, nil}, train, test, 2), "no list")
	bad := patternOf(10, []int32{1}, []int32{2})
	bad.RowPtr[1] = 7
	wantError(t, call(good, train, bad, 1), "row 0", "validate")
	wantError(t, call(good, bad, test, 1), "row 0", "validate")
	bad = patternOf(10, []int32{1}, []int32{2})
	bad.RowPtr = bad.RowPtr[:2]
	wantError(t, call(good, train, bad, 1), "test items", "row pointers")
}

// A model that scores exactly the test items highest is perfect; the figures do not depend on the
// number of threads, nor on what the model itself has seen.
func TestEvaluateModel(t *testing.T) {
	const users, items = usersPerCall + 300, 60 // more than one call of the ranker
	train := randomPattern(users, items, 0.1, 1)
	test := randomPattern(users, items, 0.1, 2)
	m := randomModel[float32](users, items, items, 1)
	for u := range users {
		clear(m.Users.Row(u))
		for _, i := range test.Row(u) {
			m.Users.Set(u, int(i), 1)
		}
	}
	for i := range items {
		clear(m.Items.Row(i))
		m.Items.Set(i, i, 1)
	}
	m.UserBias, m.ItemBias = nil, nil
	var first Ranking
	for _, threads := range []int{1, 4} {
		got, err := Evaluate(bg, m, train, test, EvaluateOptions{N: items, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if got.Recall != 1 || math.Abs(got.NDCG-1) > 1e-12 || math.Abs(got.MAP-1) > 1e-12 || got.HitRate != 1 {
			t.Errorf("a perfect model gets %+v", got)
		}
		if threads == 1 {
			first = got
		} else if got != first {
			t.Errorf("%d threads: %+v, want %+v", threads, got, first)
		}
	}
	m.Seen = test
	if got, err := Evaluate(bg, m, train, test, EvaluateOptions{N: items}); err != nil || got != first {
		t.Errorf("with Seen: %+v, %v; want %+v", got, err, first)
	}
}

func TestPopularity(t *testing.T) {
	train := patternOf(6, []int32{1, 2}, []int32{2, 4, 1}, []int32{2}, []int32{5})
	p, err := NewPopularity(train, []string{"a", "b", "c", "d", "e", "f"})
	if err != nil {
		t.Fatal(err)
	}
	list := func(u, n int, opt TopOptions) []Scored {
		t.Helper()
		lists, err := p.TopNUsers(bg, []int{u}, n, opt)
		if err != nil {
			t.Fatal(err)
		}
		return lists[0]
	}
	if got, want := list(0, 9, TopOptions{}), []Scored{{2, "c", 3}, {1, "b", 2}, {4, "e", 1}, {5, "f", 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	for _, c := range []struct {
		u, n int
		opt  TopOptions
		want []int
	}{
		{0, 2, TopOptions{}, []int{2, 1}},
		{0, 9, TopOptions{IncludeCold: true}, []int{2, 1, 4, 5, 0, 3}},
		{1, 9, TopOptions{Exclude: train}, []int{5}},
		{1, 1, TopOptions{Exclude: train, IncludeCold: true}, []int{5}},
		{2, 2, TopOptions{Exclude: train, Filter: func(i int) bool { return i != 1 }}, []int{4, 5}},
		{2, 2, TopOptions{Filter: func(i int) bool { return false }}, nil},
	} {
		if got := indices(list(c.u, c.n, c.opt)); !slices.Equal(got, c.want) {
			t.Errorf("user %d, n %d, %+v: %v, want %v", c.u, c.n, c.opt, got, c.want)
		}
	}
	_, err = p.TopNUsers(bg, []int{4}, 1, TopOptions{})
	wantError(t, err, "user 4")
	_, err = p.TopNUsers(bg, []int{0}, 0, TopOptions{})
	wantError(t, err, "0 items")
	_, err = p.TopNUsers(bg, []int{0}, 1, TopOptions{Exclude: patternOf(5, nil)})
	wantError(t, err, "1×5")
	bad := patternOf(6, nil, nil, nil, nil)
	bad.RowPtr[1] = 3
	_, err = p.TopNUsers(bg, []int{0}, 1, TopOptions{Exclude: bad})
	wantError(t, err, "row 0")
	_, err = NewPopularity(train, []string{"a"})
	wantError(t, err, "1 names", "6 items")
	_, err = NewPopularity(&sparse.Pattern{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{1}}, nil)
	wantError(t, err, "column 1 of 1")
	_, err = NewPopularity(&sparse.Pattern{Rows: 1, Cols: 1}, nil)
	wantError(t, err, "row pointers")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err = p.TopNUsers(ctx, []int{0}, 1, TopOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Against a slow evaluation written from the formulas, on random lists.
func TestEvaluateAgainstFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		items := 1 + rng.IntN(30)
		n := 1 + rng.IntN(12)
		rows := 1 + rng.IntN(6)
		train := randomPattern(rows, items, 0.2, rng.Uint64())
		test := randomPattern(rows, items, 0.3, rng.Uint64())
		f := &fixed{}
		var want Ranking
		for u := range rows {
			list := slices.DeleteFunc(rng.Perm(items), func(i int) bool { return slices.Contains(train.Row(u), int32(i)) })
			list = list[:min(n, len(list))]
			f.lists = append(f.lists, append([]int{}, list...))
			relevant := 0
			for _, i := range test.Row(u) {
				if !slices.Contains(train.Row(u), i) {
					relevant++
				}
			}
			if relevant == 0 {
				continue
			}
			var hits, dcg, idcg, ap float64
			for k, i := range list {
				if slices.Contains(test.Row(u), int32(i)) {
					hits++
					dcg += 1 / math.Log2(float64(k)+2)
					ap += hits / float64(k+1)
				}
			}
			for k := 0; k < n && k < relevant; k++ {
				idcg += 1 / math.Log2(float64(k)+2)
			}
			want.Users++
			want.Recall += hits / float64(relevant)
			want.Precision += hits / float64(n)
			want.NDCG += dcg / idcg
			want.MAP += ap / math.Min(float64(n), float64(relevant))
			want.HitRate += math.Min(hits, 1)
		}
		got, err := Evaluate(bg, f, train, test, EvaluateOptions{N: n})
		if want.Users == 0 {
			wantError(t, err, "no user")
			continue
		}
		c := float64(want.Users)
		if err != nil || got.Users != want.Users {
			t.Fatalf("%+v, %v; want %d users", got, err, want.Users)
		}
		for _, v := range [][2]float64{{got.Recall, want.Recall}, {got.Precision, want.Precision}, {got.NDCG, want.NDCG}, {got.MAP, want.MAP}, {got.HitRate, want.HitRate}} {
			if math.Abs(v[0]-v[1]/c) > 1e-14 {
				t.Fatalf("got %+v, want sums %+v over %v users", got, want, c)
			}
		}
	}
}
