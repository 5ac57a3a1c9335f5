package factors

import (
	"fmt"
	"math"
	"strconv"

	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// Model is a trained factor model of M users and N items. Solvers fill it once; from then on it is
// read only and may be used from many goroutines. A Model is a view: copying the struct shares
// the factors.
type Model[T dense.Float] struct {
	Algo string // the solver that made it, such as "als"
	Rank int    // K ≥ 1, the columns of Users and Items

	Users dense.Matrix[T] // M×K, row u is x_u; zero for a user without ratings
	Items dense.Matrix[T] // N×K, row i is θ_i; zero for an item without ratings

	Mean     float64 // μ; 0 when the model has none
	UserBias []T     // b, length M; nil when the model has none
	ItemBias []T     // c, length N; nil when the model has none

	// Implicit says that scores are preferences (near 1: likes, near 0: unknown), not ratings.
	Implicit bool

	// Low and High are the rating scale, such as 1 and 5, to which Clamp limits a score. Both
	// are 0 when the scale is not known or makes no sense, as in an implicit model.
	Low, High float64

	UserNames []string // length M; nil: the names are the indices
	ItemNames []string // length N; nil: the names are the indices

	// Seen is the M×N pattern the model was trained on; top-N lists leave out what a user has
	// seen. It is nil when the model does not carry it.
	Seen *sparse.Pattern

	// Meta holds what else should be remembered with the model: hyper-parameters, the name of
	// the data, the seed. Keys and values are valid UTF-8.
	Meta map[string]string
}

// Validate reports the first thing wrong with a model: sizes that do not fit each other, a
// factor, bias or mean that is not finite, a bad pattern of seen items. It looks at every element.
func (m *Model[T]) Validate() error {
	if err := m.checkShape(); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		m    dense.Matrix[T]
	}{{"user", m.Users}, {"item", m.Items}} {
		for r := range f.m.Rows {
			for k, v := range f.m.Row(r) {
				if !finite(float64(v)) {
					return fmt.Errorf("factors: %s %d has factor %d = %v; want finite numbers", f.name, r, k, v)
				}
			}
		}
	}
	for _, b := range []struct {
		name string
		v    []T
	}{{"user", m.UserBias}, {"item", m.ItemBias}} {
		for r, v := range b.v {
			if !finite(float64(v)) {
				return fmt.Errorf("factors: %s %d has bias %v; want a finite number", b.name, r, v)
			}
		}
	}
	if !finite(m.Mean) {
		return fmt.Errorf("factors: the mean is %v; want a finite number", m.Mean)
	}
	if !finite(m.Low) || !finite(m.High) || m.Low > m.High {
		return fmt.Errorf("factors: the rating scale is %v to %v; want finite numbers in order, or 0 and 0 when unknown", m.Low, m.High)
	}
	if m.Seen != nil {
		if err := m.Seen.Validate(); err != nil {
			return fmt.Errorf("factors: seen items: %w", err)
		}
	}
	return nil
}

// maxRank bounds K, so that sizes computed from it do not overflow.
const maxRank = 1 << 24

// checkShape is the part of Validate that costs nothing; every operation begins with it, so that a
// model put together wrongly gives an error and not a panic.
func (m *Model[T]) checkShape() error {
	if m.Rank < 1 || m.Rank > maxRank {
		return fmt.Errorf("factors: the model has rank %d; want 1 to %d", m.Rank, maxRank)
	}
	if err := m.Users.Validate(); err != nil {
		return fmt.Errorf("factors: user factors: %w", err)
	}
	if err := m.Items.Validate(); err != nil {
		return fmt.Errorf("factors: item factors: %w", err)
	}
	bad := func(what string, have int, of string, want int) error {
		return fmt.Errorf("factors: %d %s for %d %s; want as many, or none", have, what, want, of)
	}
	users, items := m.Users.Rows, m.Items.Rows
	switch {
	case m.Users.Cols != m.Rank || m.Items.Cols != m.Rank:
		return &sparse.ShapeError{
			Op:       "factors.Model",
			Operands: fmt.Sprintf("rank %d, users %d×%d, items %d×%d", m.Rank, users, m.Users.Cols, items, m.Items.Cols),
			Want:     "users M×rank and items N×rank",
		}
	case users > math.MaxInt32 || items > math.MaxInt32:
		return fmt.Errorf("factors: %d users and %d items; want fewer than 2^31 of each", users, items)
	case m.UserBias != nil && len(m.UserBias) != users:
		return bad("user biases", len(m.UserBias), "users", users)
	case m.ItemBias != nil && len(m.ItemBias) != items:
		return bad("item biases", len(m.ItemBias), "items", items)
	case m.UserNames != nil && len(m.UserNames) != users:
		return bad("user names", len(m.UserNames), "users", users)
	case m.ItemNames != nil && len(m.ItemNames) != items:
		return bad("item names", len(m.ItemNames), "items", items)
	}
	if m.Seen != nil {
		return checkPattern("factors.Model", "seen items", m.Seen, users, items)
	}
	return nil
}

// checkPattern reports a pattern that is not users×items or whose arrays cannot be walked.
func checkPattern(op, name string, p *sparse.Pattern, users, items int) error {
	if p.Rows != users || p.Cols != items {
		return &sparse.ShapeError{
			Op:       op,
			Operands: fmt.Sprintf("%s %d×%d, model %d users × %d items", name, p.Rows, p.Cols, users, items),
			Want:     "one row per user and one column per item",
		}
	}
	if len(p.RowPtr) != p.Rows+1 || p.NNZ() != int64(len(p.ColIdx)) {
		return fmt.Errorf("%s: %s: %d row pointers and %d column indices for %d rows and %d non-zeros; validate the pattern first",
			op, name, len(p.RowPtr), len(p.ColIdx), p.Rows, p.NNZ())
	}
	return nil
}

// patternRow is p.Row(i) for a pattern that may be bad: an error, where Row would panic.
func patternRow(p *sparse.Pattern, i int) ([]int32, error) {
	lo, hi := p.RowPtr[i], p.RowPtr[i+1]
	if lo < 0 || hi < lo || hi > int64(len(p.ColIdx)) {
		return nil, fmt.Errorf("factors: row %d of the pattern is [%d, %d) of %d non-zeros; validate the pattern first", i, lo, hi, len(p.ColIdx))
	}
	return p.ColIdx[lo:hi], nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// UserName returns the name of user u, its index in digits when the model has no names.
func (m *Model[T]) UserName(u int) string { return nameOf(m.UserNames, u) }

// ItemName returns the name of item i, its index in digits when the model has no names.
func (m *Model[T]) ItemName(i int) string { return nameOf(m.ItemNames, i) }

// UserIndex returns the index of the user of that name and whether there is one. It looks at
// the names one by one; for many look-ups build a map from UserNames.
func (m *Model[T]) UserIndex(name string) (int, bool) {
	return indexOf(m.UserNames, m.Users.Rows, name)
}

// ItemIndex is UserIndex for items.
func (m *Model[T]) ItemIndex(name string) (int, bool) {
	return indexOf(m.ItemNames, m.Items.Rows, name)
}

func nameOf(names []string, i int) string {
	if names == nil {
		return strconv.Itoa(i)
	}
	return names[i]
}

func indexOf(names []string, count int, name string) (int, bool) {
	if names == nil {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= count || strconv.Itoa(i) != name {
			return 0, false
		}
		return i, true
	}
	for i, n := range names {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// ColdUser reports whether the model knows nothing about user u: factors and bias are all zero.
// Its scores are the same for everybody like it; recommend by popularity instead, or fold the
// user in.
func (m *Model[T]) ColdUser(u int) bool { return zero(m.Users.Row(u)) && biasOf(m.UserBias, u) == 0 }

// ColdItem reports whether the model knows nothing about item i: factors and bias are all zero.
func (m *Model[T]) ColdItem(i int) bool { return zero(m.Items.Row(i)) && biasOf(m.ItemBias, i) == 0 }

func zero[T dense.Float](row []T) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

func biasOf[T dense.Float](bias []T, i int) float64 {
	if bias == nil {
		return 0
	}
	return float64(bias[i])
}
