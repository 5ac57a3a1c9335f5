package pattern_test

import (
	"fmt"
	"log"

	"sddmmkit/device/cpu"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

func Example() {
	dev := cpu.New(0)
	defer dev.Close()

	// Row 0 has columns 2 and 0, row 1 has column 2.
	p := &sparse.Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{2, 0, 2}}
	r, err := pattern.Upload(dev, p)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close() // and its transpose
	tr, err := r.Transpose()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Shape())
	fmt.Println(tr.Shape())

	// Values stay where they are; the transpose knows where.
	values := []string{"(0,2)", "(0,0)", "(1,2)"}
	fmt.Println(pattern.Gather(tr, values))
	// Output:
	// pattern 2×3 with 3 non-zeros
	// pattern 3×2 with 3 non-zeros
	// [(0,0) (0,2) (1,2)]
}
