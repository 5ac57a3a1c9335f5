package model_test

import (
	"fmt"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sparse"
)

// The tile for 4000 × 60 000 with 600 non-zeros in each row, and the paper's for the same density.
func Example() {
	p := &sparse.Pattern{Rows: 4000, Cols: 60_000, RowPtr: []int64{0}}
	for i := range p.Rows {
		for j := range 600 {
			p.ColIdx = append(p.ColIdx, int32(100*j+(i*37+j*61)%100))
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	machine := model.NewMachine(device.Props{L1Bytes: 48 << 10, L2Bytes: 1 << 20, L3Bytes: 16 << 20}, device.Measured{}, 2)
	c := machine.Choose(model.SpMM, model.NewProfile(p, 0), 256, 4)
	fmt.Println(c.Tile.Tj > 0 && c.Tile.Tj < 20_000)

	tj, tk := model.BestTile(8<<20/4, model.COO, 0.01)
	fmt.Printf("paper: %.0f columns, slices of %.0f\n", tj, tk)
	// Output:
	// true
	// paper: 8361 columns, slices of 251
}
