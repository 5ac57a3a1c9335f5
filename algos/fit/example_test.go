package fit_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/algos/fit"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// The error of a model on a set of ratings, as fit.Run computes it after every iteration: ratings minus
// their mean, against the products of factors.
func ExampleResidualRMSE() {
	dev := cpu.New(1)
	ratings := &sparse.CSR[float64]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 1, 1}},
		Val:     []float64{5, 3, 4},
	}
	pat, err := pattern.Upload(dev, &ratings.Pattern)
	if err != nil {
		log.Fatal(err)
	}
	defer pat.Close()
	plan, err := sddmm.NewPlan[float64](pat)
	if err != nil {
		log.Fatal(err)
	}
	target, err := fit.UploadMinus(dev, ratings.Val, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer target.Close()
	residuals, err := device.Alloc[float64](dev, pat.NNZ)
	if err != nil {
		log.Fatal(err)
	}
	defer residuals.Close()
	place := func(data ...float64) *dense.Resident[float64] {
		m, err := dense.Place(dev, dense.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: data})
		if err != nil {
			log.Fatal(err)
		}
		return m
	}
	x, y := place(1, 2), place(1, -1)
	defer x.Close()
	defer y.Close()

	rmse, err := fit.ResidualRMSE(context.Background(), plan, target, x, y, residuals)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("residuals %v, RMSE %.4f\n", residuals.Host(), rmse)
	// Output:
	// residuals [0 0 2], RMSE 1.1547
}
