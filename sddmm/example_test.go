package sddmm_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// ratings is 2×3 with three known values.
func ratings() *sparse.CSR[float32] {
	return &sparse.CSR[float32]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 2, 1}},
		Val:     []float32{5, 3, 4},
	}
}

// How far a factorisation with two factors is from the known values.
func ExampleCompute() {
	dev := cpu.New(0)
	defer dev.Close()

	s := ratings()
	users := dense.Matrix[float32]{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 2, 0}}
	films := dense.Matrix[float32]{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 2, 1, 1, 1}}
	errs := make([]float32, s.NNZ())
	err := sddmm.Compute(context.Background(), dev, sddmm.Residual, 1, s, users, films, 0, errs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(errs) // 5 − ⟨(1,2),(1,2)⟩, 3 − ⟨(1,2),(1,1)⟩, 4 − ⟨(2,0),(2,1)⟩
	// Output: [0 0 0]
}

// A solver uploads once and calls Run over and over.
func ExamplePlan_Run() {
	dev := cpu.New(0)
	defer dev.Close()
	ctx := context.Background()

	s := ratings()
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		log.Fatal(err)
	}
	defer pat.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	if err != nil {
		log.Fatal(err)
	}
	users, err := dense.Upload(dev, dense.Matrix[float32]{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer users.Close()
	films, err := dense.Upload(dev, dense.Matrix[float32]{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	defer films.Close()
	values, err := device.FromHost(dev, s.Val)
	if err != nil {
		log.Fatal(err)
	}
	defer values.Close()

	// R ← R + u·vᵀ on the pattern, in place: Dot needs no values of S.
	for range 2 {
		if err := plan.Run(ctx, sddmm.Dot, 1, nil, users, films, 1, values); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(s.Val, "before")
	if err := values.Download(s.Val); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Val, "after")
	// Output:
	// [5 3 4] before
	// [7 9 12] after
}

// Factors in 16 bits take half the memory, and on a GPU half the time where rows are long. Sums are float32.
func ExampleRunMixed() {
	dev := cpu.New(0)
	defer dev.Close()
	ctx := context.Background()

	pat, err := pattern.Upload(dev, &ratings().Pattern)
	if err != nil {
		log.Fatal(err)
	}
	defer pat.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	users, err := dense.Upload(dev, dense.Rounded[device.BFloat16](dense.Matrix[float32]{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 3.14159}}))
	if err != nil {
		log.Fatal(err)
	}
	defer users.Close()
	films, err := dense.Upload(dev, dense.Rounded[device.BFloat16](dense.Matrix[float32]{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 2, 3}}))
	if err != nil {
		log.Fatal(err)
	}
	defer films.Close()
	products, err := device.Alloc[float32](dev, pat.NNZ)
	if err != nil {
		log.Fatal(err)
	}
	defer products.Close()
	if err := sddmm.RunMixed(ctx, plan, sddmm.Dot, 1, nil, users, films, 0, products); err != nil {
		log.Fatal(err)
	}
	fmt.Println(products.Host()) // 3.14159 became 3.140625
	// Output: [1 3 6.28125]
}
