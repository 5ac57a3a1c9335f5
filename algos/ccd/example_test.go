package ccd_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/algos/ccd"
	"sddmmkit/backend"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// Four people, two kinds of films. Ann likes what Bob likes, and has not seen "Ran".
func Example() {
	dev, err := backend.Open("cpu", backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	ratings, err := sparse.FromCOO(&sparse.COO[float32]{
		Rows: 4, Cols: 5,
		Row: []int32{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3},
		Col: []int32{0, 1, 4, 0, 1, 2, 3, 2, 3, 4, 1, 3, 4},
		Val: []float32{5, 4, 1, 5, 5, 5, 1, 1, 5, 4, 1, 5, 5},
	}, sparse.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}

	opt := ccd.DefaultOptions[float32]()
	opt.Rank, opt.Lambda, opt.Mean = 2, 0.05, true
	res, err := ccd.Train(context.Background(), dev, ratings, opt)
	if err != nil {
		log.Fatal(err)
	}
	m := res.Model
	m.UserNames = []string{"Ann", "Bob", "Cid", "Dee"}
	m.ItemNames = []string{"Ikiru", "Rashomon", "Ran", "Alien", "Aliens"}

	top, err := m.TopN(context.Background(), 0, 1, factors.TopOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("for %s: %s; RMSE on the ratings below 0.2: %v\n", m.UserName(0), top[0].Name, res.BestRecord.TrainRMSE < 0.2)
	// Output:
	// for Ann: Ran; RMSE on the ratings below 0.2: true
}
