package npz_test

import (
	"bytes"
	"fmt"

	"sddmmkit/internal/npz"
)

func Example() {
	var file bytes.Buffer
	w := npz.NewWriter(&file)
	if err := w.Write("users", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}); err != nil {
		fmt.Println(err)
	}
	if err := w.Write("names", []int{2}, []string{"ada", "grace"}); err != nil {
		fmt.Println(err)
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	f, err := npz.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), "model.npz")
	if err != nil {
		fmt.Println(err)
		return
	}
	users, err := f.Array("users")
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := npz.Floats[float64](users)
	fmt.Println(f.Names(), users.Type(), users.Shape, values, err)
	// Output: [users names] float32 [2 3] [1 2 3 4 5 6] <nil>
}
