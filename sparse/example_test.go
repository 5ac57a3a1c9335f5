package sparse_test

import (
	"fmt"
	"log"

	"sddmmkit/sparse"
)

// Three users rate four films; one rating was given twice.
func ExampleFromCOO() {
	ratings := &sparse.COO[float32]{
		Rows: 3, Cols: 4,
		Row: []int32{2, 0, 0, 2, 0},
		Col: []int32{1, 3, 0, 0, 3},
		Val: []float32{4, 2, 5, 3, 1},
	}
	_, err := sparse.FromCOO(ratings, sparse.BuildOptions{})
	fmt.Println(err)

	m, err := sparse.FromCOO(ratings, sparse.BuildOptions{Duplicates: sparse.LastDuplicate})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.RowPtr, m.ColIdx, m.Val)
	// Output:
	// sparse: position (0, 3) is given more than once, first by entries 1 and 4; set BuildOptions.Duplicates to SumDuplicates or LastDuplicate to merge
	// [0 2 2 4] [0 3 0 1] [5 1 3 4]
}

// The transpose of a pattern is a second index over the same values.
func ExamplePattern_Transpose() {
	p := &sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 4}, ColIdx: []int32{0, 2, 0, 1}}
	if err := p.Validate(); err != nil {
		log.Fatal(err)
	}
	t, perm := p.Transpose(0)
	val := []string{"a", "b", "c", "d"} // on p
	for j := range t.Rows {
		for q := t.RowPtr[j]; q < t.RowPtr[j+1]; q++ {
			fmt.Print("(", j, " ", t.ColIdx[q], ") ", val[perm[q]], "  ")
		}
	}
	// Output: (0 0) a  (0 1) c  (1 1) d  (2 0) b
}

func ExampleSummarize() {
	p := &sparse.Pattern{Rows: 3, Cols: 4, RowPtr: []int64{0, 3, 3, 4}, ColIdx: []int32{0, 1, 3, 1}}
	fmt.Println(sparse.Summarize(p))
	// Output:
	// 3 × 4, 4 non-zeros, density 33.3 %
	// per row:    min 0, median 1, mean 1.333, 90 % ≤ 3, 99 % ≤ 3, max 3; 1 empty; Gini 0.50; top 1 % holds 75 %
	// per column: min 0, median 1, mean 1, 90 % ≤ 2, 99 % ≤ 2, max 2; 1 empty; Gini 0.38; top 1 % holds 50 %
}
