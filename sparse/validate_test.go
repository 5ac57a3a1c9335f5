package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestValidateRejects(t *testing.T) {
	ok := func() *CSR[float64] {
		return &CSR[float64]{
			Pattern: Pattern{Rows: 3, Cols: 5, RowPtr: []int64{0, 2, 2, 5}, ColIdx: []int32{4, 1, 3, 0, 2}},
			Val:     []float64{1, math.NaN(), 0, math.Inf(1), 5},
		}
	}
	if err := ok().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		csr, csc string // what the error says
		spoil    func(m *CSR[float64])
	}{
		{"-3 rows and 5 columns", "-3 columns and 5 rows", func(m *CSR[float64]) { m.Rows = -3 }},
		{"3 rows and 2147483648 columns", "2147483648 rows", func(m *CSR[float64]) { m.Cols = math.MaxInt32 + 1 }},
		{"2 rows has 4 entries in RowPtr; want 3", "ColPtr; want 3", func(m *CSR[float64]) { m.Rows = 2 }},
		{"0 entries in RowPtr", "0 entries in ColPtr", func(m *CSR[float64]) { m.RowPtr = nil }},
		{"RowPtr[0] is 1", "ColPtr[0] is 1", func(m *CSR[float64]) { m.RowPtr[0] = 1 }},
		{"RowPtr decreases at row 1, from 2 to 1", "ColPtr decreases at column 1", func(m *CSR[float64]) { m.RowPtr[2] = 1 }},
		{"RowPtr ends at 5 but ColIdx has 4", "ColPtr ends at 5 but RowIdx has 4", func(m *CSR[float64]) { m.ColIdx = m.ColIdx[:4] }},
		{"RowPtr ends at 6 but ColIdx has 5", "ColPtr ends at 6", func(m *CSR[float64]) { m.RowPtr[3] = 6 }},
		{"column 5 of row 2 (ColIdx[3]) is out of range; want 0 to 4", "row 5 of column 2 (RowIdx[3])", func(m *CSR[float64]) { m.ColIdx[3] = 5; m.ColIdx[4] = -1 }},
		{"column -1 of row 0 (ColIdx[1])", "row -1 of column 0", func(m *CSR[float64]) { m.ColIdx[1] = -1 }},
		{"(2, 3) is stored more than once", "(3, 2) is stored more than once", func(m *CSR[float64]) { m.ColIdx[4] = 3 }},
		{"(2, 0) is stored more than once", "(0, 2) is stored more than once", func(m *CSR[float64]) { m.ColIdx[4] = 0 }},
		{"4 values for 5 non-zeros", "4 values for 5 non-zeros", func(m *CSR[float64]) { m.Val = m.Val[:4] }},
		{"6 values for 5 non-zeros", "6 values for 5 non-zeros", func(m *CSR[float64]) { m.Val = append(m.Val, 1) }},
	} {
		m := ok()
		test.spoil(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), test.csr) {
			t.Errorf("CSR: want an error with %q, got %v", test.csr, err)
		}
		if err := m.transposeView().Validate(); err == nil || !strings.Contains(err.Error(), test.csc) {
			t.Errorf("CSC: want an error with %q, got %v", test.csc, err)
		}
	}
}

// Duplicates in long unsorted rows, within and beyond one window of the bit set.
func TestValidateLongRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, cols := range []int{10_000, 1 << 23, 1<<23 + 1, 3<<23 + 17, math.MaxInt32} {
		step := cols / (2 * shortRow)
		row := make([]int32, 0, 2*shortRow)
		for k := range 2 * shortRow {
			row = append(row, int32(k*step))
		}
		row = append(row, int32(cols-1))
		rng.Shuffle(len(row), func(a, b int) { row[a], row[b] = row[b], row[a] })
		p := &Pattern{Rows: 2, Cols: cols, RowPtr: []int64{0, 0, int64(len(row))}, ColIdx: row}
		if err := p.Validate(); err != nil {
			t.Fatalf("%d columns: %v", cols, err)
		}
		for _, twice := range []int{0, 1, shortRow, len(row) - 2} {
			q := *p
			q.ColIdx = append([]int32{row[twice]}, row...)
			q.RowPtr = []int64{0, 0, int64(len(q.ColIdx))}
			var e *DuplicateError
			if err := q.Validate(); !errors.As(err, &e) || e.Row != 1 || e.Col != int(row[twice]) {
				t.Fatalf("%d columns, column %d twice: %v", cols, row[twice], err)
			}
		}
	}
}

// The first bad row is named, however many workers look at once.
func TestValidateNamesFirstRow(t *testing.T) {
	m, err := FromCOO(spreadCOO[float32](5000, 100_000), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 4999; i > 0; i -= 617 {
		m.ColIdx[m.RowPtr[i]] = -7
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("column -7 of row %d ", i)) {
			t.Fatalf("row %d: %v", i, err)
		}
	}
}

func TestCutByNNZ(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		rows := rng.IntN(50)
		ptr := make([]int64, rows+1)
		longest := int64(0)
		for i := range rows {
			n := int64(rng.IntN(4) * rng.IntN(30))
			longest = max(longest, n+1)
			ptr[i+1] = ptr[i] + n
		}
		parts := 1 + rng.IntN(9)
		cuts := cutByNNZ(ptr, parts)
		if len(cuts) != parts+1 || cuts[0] != 0 || cuts[parts] != rows {
			t.Fatalf("cuts %v of %d rows into %d parts", cuts, rows, parts)
		}
		for u := range parts {
			if cuts[u+1] < cuts[u] {
				t.Fatalf("cuts %v decrease", cuts)
			}
			weight := ptr[cuts[u+1]] - ptr[cuts[u]] + int64(cuts[u+1]-cuts[u])
			if most := (ptr[rows]+int64(rows))/int64(parts) + longest + int64(parts); weight > most {
				t.Fatalf("part %d of %v weighs %d, want at most %d", u, cuts, weight, most)
			}
		}
	}
}
