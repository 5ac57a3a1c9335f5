package sparse

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	// Rows of 0, 1, 2, 5 non-zeros; columns of 3, 2, 1, 1, 1, 0.
	p := &Pattern{Rows: 4, Cols: 6, RowPtr: []int64{0, 0, 1, 3, 8}, ColIdx: []int32{0, 1, 0, 0, 1, 2, 3, 4}}
	s := Summarize(p)
	if s.Rows != 4 || s.Cols != 6 || s.NNZ != 8 || s.Density != 8.0/24 {
		t.Errorf("shape: %+v", s)
	}
	// Gini by its definition: half the mean absolute difference over the mean.
	if want := (Distribution{Empty: 1, Min: 0, Mean: 2, Median: 1, P90: 5, P99: 5, Max: 5, Gini: gini(0, 1, 2, 5), Top1: 5.0 / 8}); !near(s.RowNNZ, want) {
		t.Errorf("rows %+v, want %+v", s.RowNNZ, want)
	}
	if want := (Distribution{Empty: 1, Min: 0, Mean: 8.0 / 6, Median: 1, P90: 3, P99: 3, Max: 3, Gini: gini(3, 2, 1, 1, 1, 0), Top1: 3.0 / 8}); !near(s.ColNNZ, want) {
		t.Errorf("columns %+v, want %+v", s.ColNNZ, want)
	}
	for _, empty := range []*Pattern{{RowPtr: []int64{0}}, {Rows: 3, RowPtr: []int64{0, 0, 0, 0}}, {Cols: 3, RowPtr: []int64{0}}, {Rows: 1, Cols: 1, RowPtr: []int64{0, 0}}} {
		s := Summarize(empty)
		if s.Density != 0 || s.RowNNZ.Gini != 0 || s.RowNNZ.Empty != empty.Rows || s.ColNNZ.Empty != empty.Cols {
			t.Errorf("empty %d×%d: %+v", empty.Rows, empty.Cols, s)
		}
		if text, err := json.Marshal(s); err != nil || !strings.Contains(string(text), `"row_nnz":{"empty":`) {
			t.Errorf("JSON %s, %v", text, err)
		}
	}
}

func TestDistributionQuantiles(t *testing.T) {
	counts := make([]int64, 200)
	for k := range counts {
		counts[k] = int64(200 - k) // 1 … 200, unsorted
	}
	d := distribution(counts)
	if d.Min != 1 || d.Median != 100 || d.P90 != 180 || d.P99 != 198 || d.Max != 200 || d.Mean != 100.5 || d.Empty != 0 {
		t.Errorf("%+v", d)
	}
	if want := (199.0 + 200) / (200 * 201 / 2); math.Abs(d.Top1-want) > 1e-15 {
		t.Errorf("top 1 %% holds %v, want %v", d.Top1, want)
	}
}

func gini(x ...float64) float64 {
	differences, sum := 0.0, 0.0
	for _, a := range x {
		sum += a
		for _, b := range x {
			differences += math.Abs(a - b)
		}
	}
	return differences / (2 * float64(len(x)) * sum)
}

func near(a, b Distribution) bool {
	ok := math.Abs(a.Gini-b.Gini) < 1e-12
	a.Gini, b.Gini = 0, 0
	return ok && a == b
}
