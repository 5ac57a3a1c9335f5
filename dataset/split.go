package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sddmmkit/sparse"
)

// Pick returns a set of the entries at the given positions, in that order, with the shape and
// the id maps of s. A position out of range is an error.
func (s *Set[T]) Pick(entries []int) (*Set[T], error) {
	n := len(entries)
	c := &sparse.COO[T]{Rows: s.COO.Rows, Cols: s.COO.Cols, Row: make([]int32, n), Col: make([]int32, n), Val: make([]T, n)}
	out := &Set[T]{Name: s.Name, Format: s.Format, COO: c, Rows: s.Rows, Cols: s.Cols}
	if s.Time != nil {
		out.Time = make([]int64, n)
	}
	for q, p := range entries {
		if p < 0 || p >= len(s.COO.Val) {
			return nil, fmt.Errorf("%s: pick entry %d; the set has %d", s.Name, p, len(s.COO.Val))
		}
		c.Row[q], c.Col[q], c.Val[q] = s.COO.Row[p], s.COO.Col[p], s.COO.Val[p]
		if s.Time != nil {
			out.Time[q] = s.Time[p]
		}
	}
	return out, nil
}

// SplitRandom puts round(fraction·nnz) entries into test, every choice equally likely, and the
// others into train. Both keep the order of the entries, the shape and the id maps of s.
func SplitRandom[T sparse.Float](s *Set[T], fraction float64, seed uint64) (train, test *Set[T], err error) {
	want, err := testSize(s, fraction)
	if err != nil {
		return nil, nil, err
	}
	rng := stream(seed, forSplit, 0)
	inTest := make([]bool, len(s.COO.Val))
	for p := range inTest {
		if rng.IntN(len(inTest)-p) < want {
			inTest[p] = true
			want--
		}
	}
	return s.cut(inTest)
}

// SplitLeaveN puts n random entries of every user (row) into test. Users with n entries or fewer
// keep all of theirs in train, so that there is something to know them by.
func SplitLeaveN[T sparse.Float](s *Set[T], n int, seed uint64) (train, test *Set[T], err error) {
	if n < 1 {
		return nil, nil, fmt.Errorf("%s: leave out %d entries per user; want at least 1", s.Name, n)
	}
	left := make([]int, s.COO.Rows)
	for _, i := range s.COO.Row {
		left[i]++
	}
	want := make([]int, s.COO.Rows)
	for i, have := range left {
		if have > n {
			want[i] = n
		}
	}
	rng := stream(seed, forSplit, 1)
	inTest := make([]bool, len(s.COO.Val))
	for p, i := range s.COO.Row {
		if want[i] > 0 && rng.IntN(left[i]) < want[i] {
			inTest[p] = true
			want[i]--
		}
		left[i]--
	}
	return s.cut(inTest)
}

// SplitByTime puts the latest round(fraction·nnz) entries into test; of entries of equal time
// those that stand later count as later. The set must have times.
func SplitByTime[T sparse.Float](s *Set[T], fraction float64) (train, test *Set[T], err error) {
	if s.Time == nil {
		return nil, nil, fmt.Errorf("%s: split by time: the set has no times; split at random, or name the time column", s.Name)
	}
	want, err := testSize(s, fraction)
	if err != nil {
		return nil, nil, err
	}
	order := make([]int, len(s.Time))
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Time[a], s.Time[b]) })
	inTest := make([]bool, len(order))
	for _, p := range order[len(order)-want:] {
		inTest[p] = true
	}
	return s.cut(inTest)
}

// testSize returns how many entries a fraction means.
func testSize[T sparse.Float](s *Set[T], fraction float64) (int, error) {
	n := len(s.COO.Val)
	if !(fraction > 0 && fraction < 1) {
		return 0, fmt.Errorf("%s: test fraction %v; want a number between 0 and 1", s.Name, fraction)
	}
	want := int(math.Round(fraction * float64(n)))
	if want == 0 || want == n {
		return 0, fmt.Errorf("%s: a test fraction of %v of %d entries leaves test or train empty", s.Name, fraction, n)
	}
	return want, nil
}

// cut returns the entries that are not in test, and those that are.
func (s *Set[T]) cut(inTest []bool) (train, test *Set[T], err error) {
	var entries [2][]int
	n := 0
	for _, t := range inTest {
		if t {
			n++
		}
	}
	entries[0], entries[1] = make([]int, 0, len(inTest)-n), make([]int, 0, n)
	for p, t := range inTest {
		if t {
			entries[1] = append(entries[1], p)
		} else {
			entries[0] = append(entries[0], p)
		}
	}
	if train, err = s.Pick(entries[0]); err != nil {
		return nil, nil, err
	}
	if test, err = s.Pick(entries[1]); err != nil {
		return nil, nil, err
	}
	train.Name, test.Name = s.Name+" (train)", s.Name+" (test)"
	return train, test, nil
}
