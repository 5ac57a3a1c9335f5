package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"sddmmkit/internal/parallel"
)

// skewed describes a pattern like those of ratings and of words: row lengths are lognormal, the
// popularity of columns follows Zipf's law, and neither is in any order.
type skewed struct {
	rows, cols int
	nnz        int64
	sigma      float64 // standard deviation of the logarithm of the row lengths
	exponent   float64 // the column of popularity rank r has weight r^-exponent
	least      int64   // entries every row has at least, where nnz allows it
	most       int64   // entries no row has more of
	continuous bool    // ranks are the whole parts of numbers with density x^-exponent in [1, cols+1)
	seed       uint64
}

// pattern returns row pointers and, sorted within each row, the columns. Within a row columns
// are drawn by weight without replacement, so that the columns of very long rows are less skewed.
func (s skewed) pattern(ctx context.Context, threads int) (ptr []int64, cols []int32, err error) {
	ptr = s.rowPointers()
	cols = make([]int32, s.nnz)
	weights := s.weights()
	draw := newAlias(weights)
	order := make([]int32, s.cols) // the column of each rank
	for r := range order {
		order[r] = int32(r)
	}
	stream(s.seed, forColumnOrder, 0).Shuffle(s.cols, func(a, b int) { order[a], order[b] = order[b], order[a] })

	// Blocks of rows with about genBlock entries each; where they begin depends on ptr alone.
	starts := []int{0}
	for i := range s.rows {
		if ptr[i+1]-ptr[starts[len(starts)-1]] >= genBlock {
			starts = append(starts, i+1)
		}
	}
	if starts[len(starts)-1] < s.rows {
		starts = append(starts, s.rows)
	}
	threads = parallel.Threads(threads)
	scratch := make(chan *rowDraw, threads) // as many as rows drawn at a time
	for range threads {
		scratch <- &rowDraw{weights: weights, alias: draw}
	}
	err = parallel.Units(ctx, threads, len(starts)-1, func(b int) {
		d := <-scratch
		defer func() { scratch <- d }()
		rng := stream(s.seed, forRowEntries, b)
		for i := starts[b]; i < starts[b+1]; i++ {
			row := cols[ptr[i]:ptr[i+1]]
			d.draw(rng, row)
			for q, rank := range row {
				row[q] = order[rank]
			}
			slices.Sort(row)
		}
	})
	return ptr, cols, err
}

// weights returns the weights of the columns by rank.
func (s skewed) weights() []float64 {
	weights := make([]float64, s.cols)
	for r := range weights {
		x := float64(r + 1)
		switch {
		case !s.continuous:
			weights[r] = math.Pow(x, -s.exponent)
		case s.exponent == 1:
			weights[r] = math.Log1p(1 / x)
		default: // the integral of x^-exponent from x to x+1, exact also where it is a small difference
			weights[r] = math.Pow(x, 1-s.exponent) * math.Expm1((1-s.exponent)*math.Log1p(1/x)) / (1 - s.exponent)
		}
	}
	return weights
}

// rowPointers shares nnz out among the rows in proportion to lognormal weights. Every row gets
// s.least entries first (fewer where nnz is short of that) and none gets more than s.most.
func (s skewed) rowPointers() []int64 {
	weight := make([]float64, s.rows)
	rng := stream(s.seed, forRowLengths, 0)
	for i := range weight {
		weight[i] = math.Exp(s.sigma * rng.NormFloat64())
	}
	least := min(s.least, s.nnz/int64(s.rows), s.most)
	left := s.nnz - least*int64(s.rows)
	room := s.most - least // that every row has beyond the least
	// A row whose share exceeds the room is full and leaves the game; the others share the rest.
	full := make([]bool, s.rows)
	for {
		var sum float64
		for i, w := range weight {
			if !full[i] {
				sum += w
			}
		}
		again := false
		share := left
		for i, w := range weight {
			if !full[i] && left >= room && w/sum*float64(share) >= float64(room) {
				full[i], again = true, true
				left -= room
			}
		}
		if !again {
			return s.roundShares(weight, full, sum, least, room, left)
		}
	}
}

// roundShares turns shares into whole numbers: row i ends where the sum of shares up to i,
// rounded down, ends. What rounding leaves over goes to the first rows that have room.
func (s skewed) roundShares(weight []float64, full []bool, sum float64, least, room, left int64) []int64 {
	ptr := make([]int64, s.rows+1)
	var seen float64
	var given int64
	for i, w := range weight {
		n := least + room
		if !full[i] {
			seen += w
			upTo := min(int64(seen/sum*float64(left)), left)
			extra := max(min(upTo-given, room), 0)
			given += extra
			n = least + extra
		}
		ptr[i+1] = n
	}
	for i := 1; given < left && i <= s.rows; i++ {
		extra := min(s.most-ptr[i], left-given)
		ptr[i] += extra
		given += extra
	}
	for i := range s.rows {
		ptr[i+1] += ptr[i]
	}
	if ptr[s.rows] != s.nnz {
		panic(fmt.Sprintf("dataset: %d of %d entries were shared out", ptr[s.rows], s.nnz))
	}
	return ptr
}

// rowDraw draws the columns of a row without replacement.
type rowDraw struct {
	weights []float64
	alias   *alias
	stamp   []uint32 // of each rank: the last row that drew it
	row     uint32
	keys    []keyed
}

type keyed struct {
	key  float64
	rank int32
}

// draw fills out with distinct ranks, drawn by weight one after the other.
func (d *rowDraw) draw(rng *rand.Rand, out []int32) {
	if len(out) <= len(d.weights)/16 {
		if d.byRejection(rng, out) {
			return
		}
	}
	d.byKeys(rng, out)
}

// byRejection draws until enough ranks are distinct, and gives up when that takes longer than
// byKeys would.
func (d *rowDraw) byRejection(rng *rand.Rand, out []int32) bool {
	if d.stamp == nil {
		d.stamp = make([]uint32, len(d.weights))
	}
	if d.row++; d.row == 0 { // wrapped: old stamps would look fresh
		clear(d.stamp)
		d.row = 1
	}
	got := 0
	for tries := 64*len(out) + len(d.weights); got < len(out); tries-- {
		if tries == 0 {
			return false
		}
		if r := d.alias.draw(rng); d.stamp[r] != d.row {
			d.stamp[r] = d.row
			out[got] = r
			got++
		}
	}
	return true
}

// byKeys gives every rank an exponential arrival time with its weight as rate; the first to
// arrive are a draw by weight without replacement (Efraimidis and Spirakis, 2006).
func (d *rowDraw) byKeys(rng *rand.Rand, out []int32) {
	d.keys = d.keys[:0]
	if len(out) == len(d.weights) {
		for r := range out {
			out[r] = int32(r)
		}
		return
	}
	for r, w := range d.weights {
		d.keys = append(d.keys, keyed{rng.ExpFloat64() / w, int32(r)})
	}
	slices.SortFunc(d.keys, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	for q := range out {
		out[q] = d.keys[q].rank
	}
}

// alias draws an index with given weights in constant time (Walker; Vose, 1991).
type alias struct {
	keep  []float64 // chance that a slot keeps its own index
	other []int32
}

func newAlias(weights []float64) *alias {
	n := len(weights)
	a := &alias{keep: make([]float64, n), other: make([]int32, n)}
	var sum float64
	for _, w := range weights {
		sum += w
	}
	var small, large []int32
	for i, w := range weights {
		a.keep[i] = w / sum * float64(n)
		if a.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.keep[l] -= 1 - a.keep[s]; a.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) { // 1 but for rounding
		a.keep[i] = 1
	}
	return a
}

func (a *alias) draw(rng *rand.Rand) int32 {
	i := rng.IntN(len(a.keep))
	if rng.Float64() < a.keep[i] {
		return int32(i)
	}
	return a.other[i]
}
