package dataset

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

func TestMerge(t *testing.T) {
	s, err := readString[float32]("d.csv", "user,item,rating,time\nann,x,1,10\nbob,x,4,20\nann,x,2,30\nann,y,8,40\nbob,x,16,15\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for dup, want := range map[sparse.Duplicates][]float32{sparse.SumDuplicates: {3, 8, 20}, sparse.LastDuplicate: {2, 8, 16}} {
		m, merged, err := s.Merge(dup, 1)
		if err != nil {
			t.Fatal(err)
		}
		if merged != 2 || !slices.Equal(m.COO.Val, want) || !slices.Equal(m.COO.Row, []int32{0, 0, 1}) || !slices.Equal(m.COO.Col, []int32{0, 1, 0}) ||
			!slices.Equal(m.Time, []int64{30, 40, 15}) || m.Rows != s.Rows || m.Cols != s.Cols || m.Name != s.Name {
			t.Errorf("%v: %d merged, %+v, times %v", dup, merged, m.COO, m.Time)
		}
		checkSet(t, m)
	}
	_, _, err = s.Merge(sparse.ErrorOnDuplicates, 1)
	var twice *sparse.DuplicateError
	if !errors.As(err, &twice) || !strings.Contains(err.Error(), `row "ann", column "x"`) || !strings.Contains(err.Error(), "entries 1 and 3") {
		t.Errorf("%v", err)
	}
}

// Without duplicates a set is returned as it is, and so are the bits for any number of threads.
func TestMergeOfRandomSets(t *testing.T) {
	s, err := Generate[float64](t.Context(), "uniform:50x40:300", 1)
	if err != nil {
		t.Fatal(err)
	}
	if m, merged, err := s.Merge(sparse.ErrorOnDuplicates, 2); err != nil || merged != 0 || m != s {
		t.Errorf("%d merged, same set %v, %v", merged, m == s, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	twice := make([]int, 1000)
	for p := range twice {
		twice[p] = rng.IntN(300)
	}
	many, err := s.Pick(twice)
	if err != nil {
		t.Fatal(err)
	}
	many.Time = make([]int64, len(twice))
	type cell struct{ row, col int32 }
	sum, last := map[cell]float64{}, map[cell]int64{}
	for p := range twice {
		many.Time[p] = int64(p)
		c := cell{many.COO.Row[p], many.COO.Col[p]}
		sum[c] += many.COO.Val[p]
		last[c] = int64(p)
	}
	for _, threads := range []int{1, 3} {
		m, merged, err := many.Merge(sparse.SumDuplicates, threads)
		if err != nil || len(m.COO.Val) != len(sum) || merged != int64(1000-len(sum)) {
			t.Fatalf("%d cells, %d merged, %v; want %d cells", len(m.COO.Val), merged, err, len(sum))
		}
		for p, v := range m.COO.Val {
			if c := (cell{m.COO.Row[p], m.COO.Col[p]}); v != sum[c] || m.Time[p] != last[c] {
				t.Errorf("cell %v: %v at %d; want %v at %d", c, v, m.Time[p], sum[c], last[c])
			}
		}
	}
	bad := &Set[float64]{Name: "bad", COO: &sparse.COO[float64]{Rows: 1, Cols: 1, Row: []int32{1}, Col: []int32{0}, Val: []float64{1}}}
	if _, _, err := bad.Merge(sparse.SumDuplicates, 1); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("out of range: %v", err)
	}
}
