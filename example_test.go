package sddmmkit_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/backend"
	"sddmmkit/dense"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// Both primitives, on host matrices, in one call each.
func Example() {
	ctx := context.Background()
	dev, err := backend.Open("auto", backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	s, err := sparse.FromCOO(&sparse.COO[float32]{
		Rows: 2, Cols: 3,
		Row: []int32{0, 0, 1}, Col: []int32{0, 2, 1}, Val: []float32{5, 3, 4},
	}, sparse.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	a := dense.Matrix[float32]{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	b := dense.Matrix[float32]{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, 1, 1}}

	// Residuals S − A·Bᵀ at the three non-zeros of S.
	p := make([]float32, s.NNZ())
	if err := sddmm.Compute(ctx, dev, sddmm.Residual, 1, s, a, b, 0, p); err != nil {
		log.Fatal(err)
	}
	fmt.Println("residuals", p)

	// C = S·B
	c := dense.New[float32](2, 2)
	if err := spmm.Compute(ctx, dev, spmm.NoTrans, 1, s, b, 0, c); err != nil {
		log.Fatal(err)
	}
	fmt.Println("S·B", c.Data)
	// Output:
	// residuals [4 0 0]
	// S·B [8 3 0 4]
}
