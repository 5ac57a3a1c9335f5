package interop_test

import (
	"fmt"
	"log"

	bowman "github.com/james-bowman/sparse"

	"sddmmkit/sparse"
	"sddmmkit/sparse/interop"
)

// Triplets of james-bowman/sparse, some of them for the same position, become a float32 CSR.
func ExampleFromMatrix() {
	coo := bowman.NewCOO(2, 3, nil, nil, nil)
	coo.Set(1, 2, 4)
	coo.Set(0, 1, 1)
	coo.Set(1, 2, 0.5)
	m, err := interop.FromMatrix[float32](coo, sparse.BuildOptions{Duplicates: sparse.SumDuplicates})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.RowPtr, m.ColIdx, m.Val)
	// Output: [0 1 2] [1 2] [1 4.5]
}

// A float64 matrix and its james-bowman counterpart hold the same values.
func ExampleToCSR() {
	m := &sparse.CSR[float64]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{1, 0}},
		Val:     []float64{3, 4},
	}
	other, err := interop.ToCSR(m)
	if err != nil {
		log.Fatal(err)
	}
	m.Val[1] = 5
	fmt.Println(other.At(1, 0))

	_, err = interop.FromCSR[float64](bowman.NewCSR(2, 2, []int{0, 1, 2}, []int{1, 2}, []float64{3, 4}))
	fmt.Println(err)
	// Output:
	// 5
	// interop.FromCSR: sparse: column 2 of row 1 (ColIdx[1]) is out of range; want 0 to 1
}
