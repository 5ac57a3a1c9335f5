package model

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"sddmmkit/sparse"
)

// classes has the references of a pattern class by class, where a class are the columns with the same low bits: rows of B that share sets of a
// cache which address bits pick. How many there are depends on how long the rows are, so they are counted when a prediction asks for them.
type classes struct {
	pattern *sparse.Pattern
	sample  sample
	draws

	counting sync.Mutex
	counted  map[int]*references // by the number of classes
}

const (
	someClasses = 256     // say whether classes are read equally often
	mostClasses = 1 << 11 // are counted: as many as rows of one line that lie within the distance at which they share sets
	unequal     = 1.25    // times what Σ (share of a class)² is where they are
	drawn       = 8       // one in so many non-zeros says so
	fewClasses  = 8       // that rows of B are in: with fewer all columns are taken for one class
)

// classesOf returns how many classes rows of B of so many bytes are in, a power of two, by how far apart those lie that share sets, or 0.
func classesOf(row float64, setBytes int64) int {
	n := int64(float64(setBytes) / math.Max(row, 1))
	if n < fewClasses {
		return 0
	}
	return min(1<<(bits.Len64(uint64(n))-1), mostClasses)
}

// of returns the references to so many classes, a power of two, as if the non-zeros were sorted by class. The first call for a number takes half as
// long as NewProfile.
func (c *classes) of(number, threads int) *references {
	c.counting.Lock()
	defer c.counting.Unlock()
	if c.counted[number] == nil {
		c.counted[number] = c.count(number, threads)
	}
	return c.counted[number]
}

// count takes the references of a class to lie between those of the others as evenly as it has a share of those drawn: to number them one by one
// takes twice as long.
func (c *classes) count(number, threads int) *references {
	p, nnz := c.pattern, c.pattern.NNZ()
	mask, shift := int32(number-1), shiftOf(nnz)
	inClass := folded(c.inClass, number)
	const undrawn = 0.125 // a class that none was drawn of may have some
	sum := 0.0
	for _, n := range inClass {
		sum += float64(n) + undrawn
	}
	// Where a class begins when references are sorted by class, and how much of a step there one before is.
	type place struct{ start, share float64 }
	places := make([]place, number)
	start := 0.0
	for class, n := range inClass {
		share := (float64(n) + undrawn) / sum
		places[class] = place{start, share}
		start += share * float64(nnz)
	}
	r, _ := c.sample.countReferences(p.ColIdx, p.Cols, shift, threads, func(from int64, columns []int32, of []uint16, now *[stretch]uint32) {
		for _, z := range of {
			at := &places[columns[z]&mask]
			now[z&(stretch-1)] = uint32(int64(at.start+at.share*float64(from+int64(z)))>>(shift&63)) + 1
		}
	}, c.draws)
	return r
}

// folded adds up counts of columns by their low bits to those of fewer.
func folded(counts []int64, number int) []int64 {
	sum := slices.Clone(counts[:number])
	for class, n := range counts[number:] {
		sum[class&(number-1)] += n
	}
	return sum
}

// sameOfTwo returns how likely two different ones of all that is counted are in the same part.
func sameOfTwo(counts []int64) float64 {
	sum, pairs := 0.0, 0.0
	for _, n := range counts {
		sum, pairs = sum+float64(n), pairs+float64(n)*float64(n-1)
	}
	return pairs / math.Max(sum*(sum-1), 1)
}
