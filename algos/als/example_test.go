package als_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/algos/als"
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

	opt := als.DefaultOptions[float32]()
	opt.Rank, opt.Lambda = 2, 0.05
	res, err := als.Train(context.Background(), dev, ratings, opt)
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
	fmt.Printf("for %s: %s\n", m.UserName(0), top[0].Name)

	// A new user joins who loved Alien and did not like Ikiru.
	guest, err := sparse.FromCOO(&sparse.COO[float32]{Rows: 1, Cols: 5,
		Row: []int32{0, 0}, Col: []int32{3, 0}, Val: []float32{5, 1}}, sparse.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x, _, err := als.FoldIn(context.Background(), dev, m, guest)
	if err != nil {
		log.Fatal(err)
	}
	top, err = m.TopNFor(context.Background(), x.Row(0), 0, guest.Row(0), 1, factors.TopOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("for the guest: %s\n", top[0].Name)
	// Output:
	// for Ann: Ran
	// for the guest: Aliens
}
