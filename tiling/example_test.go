package tiling_test

import (
	"fmt"
	"log"

	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// Two panels of three columns, and the same pattern as tiles with local indices.
func Example() {
	// 1 . . | . 1 1
	// . . . | 1 . .
	// . 1 1 | . . 1
	p := &sparse.Pattern{Rows: 3, Cols: 6, RowPtr: []int64{0, 3, 4, 7}, ColIdx: []int32{0, 4, 5, 3, 1, 2, 5}}
	panels, err := tiling.Columns(p, 3, 0)
	if err != nil {
		log.Fatal(err)
	}
	for q := range panels.Count() {
		fmt.Print("panel ", q, ":")
		for _, s := range panels.Segments[panels.Start[q]:panels.Start[q+1]] {
			fmt.Printf("  row %d, columns %v", s.Row, p.ColIdx[s.Lo:s.Lo+int64(s.N)])
		}
		fmt.Println()
	}
	tiles, err := tiling.NewSML2[uint16, uint16](p, panels, 2, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("active rows", tiles.Active, "local rows", tiles.Row, "local columns", tiles.Col)
	// Output:
	// panel 0:  row 0, columns [0]  row 2, columns [1 2]
	// panel 1:  row 0, columns [4 5]  row 1, columns [3]  row 2, columns [5]
	// active rows [0 2 0 1 2] local rows [0 1 1 0 0 1 0] local columns [0 1 2 1 2 0 2]
}
