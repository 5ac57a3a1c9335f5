package factors

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// randomModel returns a model with biases, names and a stride beyond its rank, whose scores are all
// different with probability one.
func randomModel[T dense.Float](users, items, rank int, seed uint64) *Model[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	matrix := func(rows int) dense.Matrix[T] {
		m := dense.New[T](rows, rank+3)
		for i := range m.Data {
			m.Data[i] = T(math.NaN()) // between the rows: must never be read
		}
		m = m.View(0, rows, rank)
		for r := range rows {
			for k := range rank {
				m.Set(r, k, T(rng.NormFloat64()))
			}
		}
		return m
	}
	vector := func(n int) []T {
		v := make([]T, n)
		for i := range v {
			v[i] = T(rng.NormFloat64())
		}
		return v
	}
	return &Model[T]{
		Algo: "test", Rank: rank, Mean: 3.5, Low: 1, High: 5,
		Users: matrix(users), Items: matrix(items),
		UserBias: vector(users), ItemBias: vector(items),
	}
}

// randomPattern returns a pattern with about the given share of all pairs, columns not in order.
func randomPattern(rows, cols int, share float64, seed uint64) *sparse.Pattern {
	rng := rand.New(rand.NewPCG(seed, 2))
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, 1, rows+1)}
	for range rows {
		for _, j := range rng.Perm(cols) {
			if rng.Float64() < share {
				p.ColIdx = append(p.ColIdx, int32(j))
			}
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

// slowScore is the formula, term by term.
func slowScore[T dense.Float](m *Model[T], u, i int) float64 {
	s := m.Mean
	if m.UserBias != nil {
		s += float64(m.UserBias[u])
	}
	if m.ItemBias != nil {
		s += float64(m.ItemBias[i])
	}
	for k := range m.Rank {
		s += float64(m.Users.At(u, k)) * float64(m.Items.At(i, k))
	}
	return s
}

// scoreBound is the rounding error that two orders of adding up a score may differ by:
// 2·γ_(K+3) times the sum of the magnitudes.
func scoreBound[T dense.Float](m *Model[T], u, i int) float64 {
	sum := math.Abs(m.Mean) + math.Abs(biasOf(m.UserBias, u)) + math.Abs(biasOf(m.ItemBias, i))
	for k := range m.Rank {
		sum += math.Abs(float64(m.Users.At(u, k)) * float64(m.Items.At(i, k)))
	}
	n := float64(m.Rank+3) * 0x1p-53
	return 2 * n / (1 - n) * sum
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestValidate(t *testing.T) {
	type M = Model[float64]
	good := func() *M {
		m := randomModel[float64](4, 6, 3, 1)
		m.UserNames = []string{"a", "b", "c", "d"}
		m.ItemNames = []string{"", "x", "y", "z", "ß", "\xff"}
		m.Seen = randomPattern(4, 6, 0.5, 1)
		return m
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(m *M)
		words []string
	}{
		{"rank zero", func(m *M) { m.Rank = 0 }, []string{"rank 0"}},
		{"rank too large", func(m *M) { m.Rank = 1 << 61 }, []string{"rank"}},
		{"rank differs", func(m *M) { m.Rank = 4 }, []string{"rank 4", "4×3", "6×3"}},
		{"item columns", func(m *M) { m.Items = dense.New[float64](6, 2) }, []string{"4×3", "6×2"}},
		{"short data", func(m *M) { m.Users.Data = m.Users.Data[:5] }, []string{"user factors"}},
		{"short item data", func(m *M) { m.Items.Data = nil }, []string{"item factors"}},
		{"user biases", func(m *M) { m.UserBias = m.UserBias[1:] }, []string{"3 user biases", "4 users"}},
		{"item biases", func(m *M) { m.ItemBias = m.ItemBias[1:] }, []string{"5 item biases", "6 items"}},
		{"user names", func(m *M) { m.UserNames = []string{} }, []string{"0 user names", "4 users"}},
		{"item names", func(m *M) { m.ItemNames = m.ItemNames[2:] }, []string{"4 item names", "6 items"}},
		{"NaN user", func(m *M) { m.Users.Set(2, 1, math.NaN()) }, []string{"user 2", "factor 1", "NaN"}},
		{"Inf item", func(m *M) { m.Items.Set(5, 0, math.Inf(-1)) }, []string{"item 5", "factor 0", "-Inf"}},
		{"NaN bias", func(m *M) { m.UserBias[3] = math.NaN() }, []string{"user 3", "bias", "NaN"}},
		{"Inf bias", func(m *M) { m.ItemBias[0] = math.Inf(1) }, []string{"item 0", "bias", "+Inf"}},
		{"mean", func(m *M) { m.Mean = math.NaN() }, []string{"mean", "NaN"}},
		{"scale", func(m *M) { m.Low, m.High = 5, 1 }, []string{"scale", "5", "1"}},
		{"seen shape", func(m *M) { m.Seen = randomPattern(6, 4, 0.5, 1) }, []string{"seen items 6×4", "4 users", "6 items"}},
		{"seen pointers", func(m *M) { m.Seen.RowPtr = m.Seen.RowPtr[:3] }, []string{"seen items", "3 row pointers"}},
		{"seen column", func(m *M) { m.Seen.ColIdx[0] = 6 }, []string{"seen items", "6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := good()
			c.spoil(m)
			wantError(t, m.Validate(), c.words...)
		})
	}
}

func TestNames(t *testing.T) {
	m := randomModel[float32](3, 12, 2, 1)
	if got := m.UserName(2) + m.ItemName(11); got != "211" {
		t.Errorf("names of a model without names: %q", got)
	}
	for name, want := range map[string]int{"0": 0, "11": 11, "12": -1, "-1": -1, "01": -1, "+1": -1, "": -1, "x": -1} {
		i, ok := m.ItemIndex(name)
		if ok != (want >= 0) || ok && i != want {
			t.Errorf("item %q: index %d, %v; want %d", name, i, ok, want)
		}
	}
	m.UserNames = []string{"anna", "2", ""}
	for name, want := range map[string]int{"anna": 0, "2": 1, "": 2, "0": -1} {
		u, ok := m.UserIndex(name)
		if ok != (want >= 0) || ok && u != want {
			t.Errorf("user %q: index %d, %v; want %d", name, u, ok, want)
		}
	}
	if m.UserName(0) != "anna" {
		t.Errorf("name of user 0: %q", m.UserName(0))
	}
}

func TestCold(t *testing.T) {
	m := randomModel[float64](3, 3, 2, 1)
	clear(m.Users.Row(1))
	clear(m.Items.Row(2))
	if m.ColdUser(1) || m.ColdItem(2) {
		t.Error("zero factors with a bias are not cold")
	}
	m.UserBias[1], m.ItemBias[2] = 0, 0
	for i := range 3 {
		if m.ColdUser(i) != (i == 1) || m.ColdItem(i) != (i == 2) {
			t.Errorf("%d: cold user %v, cold item %v", i, m.ColdUser(i), m.ColdItem(i))
		}
	}
	m.UserBias, m.ItemBias = nil, nil
	if !m.ColdUser(1) || !m.ColdItem(2) || m.ColdUser(0) {
		t.Error("without biases zero factors are cold")
	}
}
