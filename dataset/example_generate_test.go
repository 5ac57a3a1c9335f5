package dataset_test

import (
	"context"
	"fmt"
	"os"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

func ExampleGenerate() {
	set, err := dataset.Generate[float32](context.Background(), "rmat:10:5k:seed=3", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Name, set.COO.Rows, set.COO.Cols, set.COO.NNZ())
	// Output: rmat:10:5000:seed=3 1024 1024 5000
}

func ExamplePlantedRatings() {
	set, truth, err := dataset.PlantedRatings[float64](context.Background(), dataset.PlantedOptions{
		Users: 300, Items: 200, NNZ: 10_000, Rank: 4, Noise: 0.25, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.COO.NNZ(), "ratings; no algorithm can expect a test RMSE below", truth.BestRMSE)
	// Output: 10000 ratings; no algorithm can expect a test RMSE below 0.25
}

func ExampleSplitRandom() {
	set, err := dataset.Generate[float32](context.Background(), "ratings:100x50:1k:3:0.1", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	train, test, err := dataset.SplitRandom(set, 0.1, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.COO.NNZ(), test.COO.NNZ())
	// Output: 900 100
}

func ExampleWriteMatrixMarket() {
	m := &sparse.CSR[float32]{
		Pattern: sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 2, 1}},
		Val:     []float32{1, 0.1, -2.5},
	}
	if err := dataset.WriteMatrixMarket(os.Stdout, m); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate real general
	// 2 3 3
	// 1 1 1
	// 1 3 0.1
	// 2 2 -2.5
}
