package sparse

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPickAgainstMap(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(6, 7))
		m := randomCSR[float64](t, rng, s.rows, s.cols, s.nnz)
		model := mimicOfCSR(m)

		var rows []int
		for range min(s.rows, 1)*s.rows + min(s.rows, 1)*3 {
			rows = append(rows, rng.IntN(s.rows)) // some twice
		}
		want := mimic[float64]{}
		for k, i := range rows {
			for at, v := range model {
				if at.i == i && len(rows) < 100 {
					want[cell{k, at.j}] = v
				}
			}
		}
		got, err := m.PickRows(rows)
		if err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		if len(rows) < 100 {
			if d := diff(got, want.csr(len(rows), s.cols)); d != "" {
				t.Fatalf("%s: PickRows: %s", s.why, d)
			}
		}

		cols := rng.Perm(s.cols)[:(s.cols+1)/2]
		place := map[int]int{}
		for k, j := range cols {
			place[j] = k
		}
		want = mimic[float64]{}
		for at, v := range model {
			if k, ok := place[at.j]; ok {
				want[cell{at.i, k}] = v
			}
		}
		got, err = m.PickCols(cols)
		if err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		if d := diff(got, want.csr(s.rows, len(cols))); d != "" {
			t.Fatalf("%s: PickCols: %s", s.why, d)
		}
	}
}

func TestPickRejects(t *testing.T) {
	m := &CSR[float32]{Pattern: Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 1}, ColIdx: []int32{2}}, Val: []float32{1}}
	for _, test := range []struct {
		want string
		pick func() (*CSR[float32], error)
	}{
		{"row 2 (item 1 of the list) of a 2×3", func() (*CSR[float32], error) { return m.PickRows([]int{0, 2}) }},
		{"row -1 (item 0", func() (*CSR[float32], error) { return m.PickRows([]int{-1}) }},
		{"column 3 (item 0", func() (*CSR[float32], error) { return m.PickCols([]int{3}) }},
		{"column -1 (item 1", func() (*CSR[float32], error) { return m.PickCols([]int{1, -1}) }},
		{"column 1 is given twice, as items 0 and 2", func() (*CSR[float32], error) { return m.PickCols([]int{1, 0, 1}) }},
	} {
		if got, err := test.pick(); err == nil || got != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, err)
		}
	}
}
