package sparse

import (
	"fmt"
	"slices"
)

// Stats describes the structure of a sparse matrix.
type Stats struct {
	Rows    int     `json:"rows"`
	Cols    int     `json:"cols"`
	NNZ     int64   `json:"nnz"`
	Density float64 `json:"density"` // NNZ / (Rows·Cols), 0 for an empty shape

	RowNNZ Distribution `json:"row_nnz"` // non-zeros per row
	ColNNZ Distribution `json:"col_nnz"` // non-zeros per column
}

// Distribution describes the number of non-zeros of each row, or of each column. Quantiles are by
// nearest rank: P90 is the smallest number that at least 90 % of the rows do not exceed.
type Distribution struct {
	Empty  int     `json:"empty"` // rows without a non-zero
	Min    int64   `json:"min"`
	Mean   float64 `json:"mean"`
	Median int64   `json:"median"`
	P90    int64   `json:"p90"`
	P99    int64   `json:"p99"`
	Max    int64   `json:"max"`
	// Gini is 0 when all rows have the same number and tends to 1 when one row has them all.
	Gini float64 `json:"gini"`
	// Top1 is the share of the non-zeros that the fullest 1 % of the rows hold (at least one row).
	Top1 float64 `json:"top1_share"`
}

// Summarize returns the statistics of a valid pattern.
func Summarize(p *Pattern) Stats {
	s := Stats{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ()}
	if p.Rows > 0 && p.Cols > 0 {
		s.Density = float64(s.NNZ) / float64(p.Rows) / float64(p.Cols)
	}
	counts := make([]int64, p.Rows)
	for i := range counts {
		counts[i] = p.RowPtr[i+1] - p.RowPtr[i]
	}
	s.RowNNZ = distribution(counts)
	counts = make([]int64, p.Cols)
	for _, j := range p.ColIdx {
		counts[j]++
	}
	s.ColNNZ = distribution(counts)
	return s
}

// distribution sorts counts.
func distribution(counts []int64) Distribution {
	n := len(counts)
	if n == 0 {
		return Distribution{}
	}
	slices.Sort(counts)
	quantile := func(percent int) int64 { return counts[(n*percent+99)/100-1] }
	d := Distribution{Min: counts[0], Median: quantile(50), P90: quantile(90), P99: quantile(99), Max: counts[n-1]}
	d.Empty, _ = slices.BinarySearch(counts, 1)
	total, top, ranked := 0.0, 0.0, 0.0
	for k, c := range counts {
		total += float64(c)
		ranked += float64(k+1) * float64(c)
		if k >= n-(n+99)/100 {
			top += float64(c)
		}
	}
	d.Mean = total / float64(n)
	if total > 0 {
		// With counts in increasing order G = 2·Σ k·c_k / (n·Σ c_k) − (n+1)/n, k from 1.
		d.Gini = 2*ranked/(float64(n)*total) - float64(n+1)/float64(n)
		d.Top1 = top / total
	}
	return d
}

// String returns the statistics in three lines.
func (s Stats) String() string {
	return fmt.Sprintf("%d × %d, %d non-zeros, density %.3g %%\nper row:    %v\nper column: %v", s.Rows, s.Cols, s.NNZ, 100*s.Density, s.RowNNZ, s.ColNNZ)
}

// String returns the distribution in one line.
func (d Distribution) String() string {
	return fmt.Sprintf("min %d, median %d, mean %.4g, 90 %% ≤ %d, 99 %% ≤ %d, max %d; %d empty; Gini %.2f; top 1 %% holds %.3g %%",
		d.Min, d.Median, d.Mean, d.P90, d.P99, d.Max, d.Empty, d.Gini, 100*d.Top1)
}
