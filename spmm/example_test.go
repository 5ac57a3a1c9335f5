package spmm_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/dense"
	"sddmmkit/device/cpu"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

func ExampleCompute() {
	dev := cpu.New(0)
	defer dev.Close()

	// | 5 0 3 |
	// | 0 4 0 |
	s := &sparse.CSR[float64]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 2, 1}},
		Val:     []float64{5, 3, 4},
	}
	b := dense.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 10, 2, 20, 3, 30}}
	c := dense.New[float64](2, 2)
	if err := spmm.Compute(context.Background(), dev, spmm.NoTrans, 1, s, b, 0, c); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Row(0), c.Row(1))
	// Output: [14 140] [8 80]
}

// How many known values each row and each column has: the pattern times a vector of ones.
func ExamplePlan_Run() {
	dev := cpu.New(0)
	defer dev.Close()
	ctx := context.Background()

	pat, err := pattern.Upload(dev, &sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer pat.Close()
	plan, err := spmm.NewPlan[float32](pat)
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()

	for _, op := range []spmm.Op{spmm.NoTrans, spmm.Trans} {
		from, to := pat.Cols, pat.Rows
		if op == spmm.Trans {
			from, to = to, from
		}
		ones := dense.New[float32](from, 1)
		for i := range ones.Data {
			ones.Data[i] = 1
		}
		x, err := dense.Place(dev, ones)
		if err != nil {
			log.Fatal(err)
		}
		y, err := dense.Zeros[float32](dev, to, 1)
		if err != nil {
			log.Fatal(err)
		}
		if err := plan.Run(ctx, op, 1, nil, x, 0, y); err != nil {
			log.Fatal(err)
		}
		counts, err := y.Download()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(counts.Data)
		x.Close()
		y.Close()
	}
	// Output:
	// [2 1]
	// [1 0 2]
}
