package dataset_test

import (
	"context"
	"fmt"
	"strings"

	"sddmmkit/dataset"
)

func ExampleReadFrom() {
	text := `user,film,rating
ann,"Tiger, Hidden Dragon",5
bob,Alien,3.5
ann,Alien,4
`
	set, err := dataset.ReadFrom[float32](context.Background(), "ratings.csv", strings.NewReader(text), dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := set.COO
	fmt.Printf("%s: %d users, %d items, %d ratings\n", set.Format, m.Rows, m.Cols, m.NNZ())
	for p, v := range m.Val {
		fmt.Printf("%s gives %q %v\n", set.Rows.Name(int(m.Row[p])), set.Cols.Name(int(m.Col[p])), v)
	}
	// Output:
	// ratings: 2 users, 2 items, 3 ratings
	// ann gives "Tiger, Hidden Dragon" 5
	// bob gives "Alien" 3.5
	// ann gives "Alien" 4
}

// A test file takes the indices of its training file; a user that only it has follows after.
func ExampleOptions_continue() {
	ctx := context.Background()
	train, err := dataset.ReadFrom[float32](ctx, "train", strings.NewReader("ann,Alien,4\nbob,Brazil,3\n"), dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	test, err := dataset.ReadFrom[float32](ctx, "test", strings.NewReader("cleo,Brazil,5\nbob,Alien,2\n"),
		dataset.Options{RowIDs: train.Rows, ColIDs: train.Cols})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(test.COO.Row, test.COO.Col, test.Rows.Names())
	// Output: [2 1] [1 0] [ann bob cleo]
}

func ExampleParseError() {
	_, err := dataset.ReadFrom[float32](context.Background(), "u.data", strings.NewReader("196\t242\t3\n186\t302\tx\n"), dataset.Options{})
	fmt.Println(err)
	// Output: u.data:2: got rating "x", want a finite number
}
