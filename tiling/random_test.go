package tiling

import (
	"math/rand/v2"
	"slices"

	"sddmmkit/sparse"
)

// random returns a pattern with sorted rows; each row keeps a random share of the columns, and
// some keep none or all. skew > 1 moves the columns to the left.
func random(rng *rand.Rand, rows, cols int, skew float64) *sparse.Pattern {
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		share := rng.Float64()
		switch rng.IntN(5) {
		case 0:
			share = 0
		case 1:
			share = 1
		}
		for j := range cols {
			if x := rng.Float64(); x < share*pow(1-float64(j)/float64(cols), skew-1) {
				p.ColIdx = append(p.ColIdx, int32(j))
			}
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

func pow(x, y float64) float64 {
	r := 1.0
	for ; y >= 1; y-- {
		r *= x
	}
	return r
}

// fromBytes turns fuzzing input into a valid pattern with sorted rows: each byte is a column, and
// 255 begins a row.
func fromBytes(data []byte, cols int) *sparse.Pattern {
	p := &sparse.Pattern{Cols: cols, RowPtr: []int64{0}}
	var row []int32
	flush := func() {
		slices.Sort(row)
		p.ColIdx = append(p.ColIdx, slices.Compact(row)...)
		p.Rows++
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
		row = row[:0]
	}
	for _, b := range data {
		switch {
		case b == 255:
			flush()
		case cols > 0:
			row = append(row, int32(int(b)*cols/255))
		}
	}
	flush()
	return p
}

// long is a pattern of three rows, the middle one with n non-zeros in every column.
func long(n int) *sparse.Pattern {
	p := &sparse.Pattern{Rows: 3, Cols: n, RowPtr: []int64{0, 1, int64(n) + 1, int64(n) + 2}, ColIdx: []int32{int32(n / 2)}}
	for j := range n {
		p.ColIdx = append(p.ColIdx, int32(j))
	}
	p.ColIdx = append(p.ColIdx, 0)
	return p
}

// uniform is a larger pattern for benchmarks: perRow columns in each row, evenly random.
func uniform(rows, cols, perRow int) *sparse.Pattern {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, 1, rows+1)}
	for range rows {
		start := len(p.ColIdx)
		for range perRow {
			p.ColIdx = append(p.ColIdx, rng.Int32N(int32(cols)))
		}
		row := p.ColIdx[start:]
		slices.Sort(row)
		p.ColIdx = p.ColIdx[:start+len(slices.Compact(row))]
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}
