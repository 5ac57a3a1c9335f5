package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

// numbered returns a set of n entries over 10 users whose values are their positions, so that
// a test sees where each went. Times are given in an order of their own, with repeats.
func numbered(n int) *Set[float64] {
	c := &sparse.COO[float64]{Rows: 10, Cols: n}
	s := &Set[float64]{Name: "numbered", Format: Ratings, COO: c, Cols: nil}
	for p := range n {
		c.Row = append(c.Row, int32(p*p%10))
		c.Col = append(c.Col, int32(p))
		c.Val = append(c.Val, float64(p))
		s.Time = append(s.Time, int64(p*7919%50))
	}
	s.Rows = NewIDs([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
	return s
}

// checkSplit checks that train and test share out the entries of s, each with what belongs to it.
func checkSplit(t *testing.T, s, train, test *Set[float64], wantTest int) {
	t.Helper()
	if got := len(test.COO.Val); got != wantTest {
		t.Errorf("%d entries in test, want %d", got, wantTest)
	}
	seen := make([]int, len(s.COO.Val))
	for _, part := range []*Set[float64]{train, test} {
		if err := part.validate(); err != nil {
			t.Error(err)
		}
		if part.COO.Rows != s.COO.Rows || part.COO.Cols != s.COO.Cols || part.Rows != s.Rows || part.Cols != s.Cols || part.Format != s.Format {
			t.Errorf("%s does not have the shape and the id maps of the whole", part.Name)
		}
		if !slices.IsSorted(part.COO.Val) {
			t.Errorf("%s: the order of the entries changed", part.Name)
		}
		for q, v := range part.COO.Val {
			p := int(v)
			seen[p]++
			if part.COO.Row[q] != s.COO.Row[p] || part.COO.Col[q] != s.COO.Col[p] || part.Time[q] != s.Time[p] {
				t.Errorf("%s: entry %d came apart", part.Name, p)
			}
		}
	}
	for p, n := range seen {
		if n != 1 {
			t.Errorf("entry %d stands %d times in train and test together", p, n)
		}
	}
}

func TestSplitRandom(t *testing.T) {
	s := numbered(1000)
	for _, fraction := range []float64{0.1, 0.25, 0.9996, 0.0005} {
		if want := int(math.Round(fraction * 1000)); want > 0 && want < 1000 {
			train, test, err := SplitRandom(s, fraction, 7)
			if err != nil {
				t.Fatal(err)
			}
			checkSplit(t, s, train, test, want)
		}
	}
	_, a, _ := SplitRandom(s, 0.1, 1)
	_, b, _ := SplitRandom(s, 0.1, 1)
	_, c, _ := SplitRandom(s, 0.1, 2)
	if !slices.Equal(a.COO.Val, b.COO.Val) || slices.Equal(a.COO.Val, c.COO.Val) {
		t.Error("a seed must decide the split, and another seed decide otherwise")
	}
	// Every entry is as likely as every other to be in test.
	counts := make([]int, 20)
	small := numbered(20)
	for seed := range uint64(4000) {
		_, test, err := SplitRandom(small, 0.25, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range test.COO.Val {
			counts[int(v)]++
		}
	}
	for p, n := range counts { // 1000 each, standard deviation 27
		if n < 1000-137 || n > 1000+137 {
			t.Errorf("entry %d was in test %d times, want 1000 ± 137", p, n)
		}
	}
}

func TestSplitLeaveN(t *testing.T) {
	s := numbered(200) // users 0 and 5 have 20 entries, 1, 4, 6 and 9 have 40, the others none
	s.COO.Row[0] = 2   // and user 2 one
	train, test, err := SplitLeaveN(s, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	checkSplit(t, s, train, test, 6*3)
	users := map[int32]int{}
	for _, i := range test.COO.Row {
		users[i]++
	}
	for i, n := range users {
		if n != 3 {
			t.Errorf("user %d has %d entries in test, want 3", i, n)
		}
	}
	if users[2] != 0 {
		t.Error("the only entry of user 2 must stay in train")
	}
	_, again, _ := SplitLeaveN(s, 3, 5)
	_, other, _ := SplitLeaveN(s, 3, 6)
	if !slices.Equal(test.COO.Val, again.COO.Val) || slices.Equal(test.COO.Val, other.COO.Val) {
		t.Error("a seed must decide the split, and another seed decide otherwise")
	}
}

func TestSplitByTime(t *testing.T) {
	s := numbered(200)
	train, test, err := SplitByTime(s, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	checkSplit(t, s, train, test, 60)
	first, last := slices.Min(test.Time), slices.Max(train.Time)
	if last > first {
		t.Errorf("train reaches to time %d, test begins at %d", last, first)
	}
	// Where the cut falls among equal times, the entries that stand later are later.
	for q, at := range train.Time {
		for r, other := range test.Time {
			if at == other && train.COO.Val[q] > test.COO.Val[r] {
				t.Errorf("entries %v and %v of time %d are the wrong way round", train.COO.Val[q], test.COO.Val[r], at)
			}
		}
	}
	s.Time = nil
	if _, _, err := SplitByTime(s, 0.3); err == nil || !strings.Contains(err.Error(), "no times") {
		t.Errorf("without times: error %v", err)
	}
}

func TestSplitRefused(t *testing.T) {
	s := numbered(10)
	for _, fraction := range []float64{0, 1, -0.1, 1.5, math.NaN(), 0.01, 0.99} {
		if _, _, err := SplitRandom(s, fraction, 1); err == nil {
			t.Errorf("random %v: no error", fraction)
		}
		if _, _, err := SplitByTime(s, fraction); err == nil {
			t.Errorf("by time %v: no error", fraction)
		}
	}
	if _, _, err := SplitLeaveN(s, 0, 1); err == nil {
		t.Error("leave 0: no error")
	}
	if _, err := s.Pick([]int{10}); err == nil {
		t.Error("pick beyond the end: no error")
	}
	empty := &Set[float64]{COO: &sparse.COO[float64]{}}
	if _, _, err := SplitRandom(empty, 0.5, 1); err == nil {
		t.Error("empty set: no error")
	}
}
