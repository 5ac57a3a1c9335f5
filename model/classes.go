package model

import (
	"math"
	"math/bits"
	"sync"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// classes has the references of a pattern class by class, where a class are the columns with the same low bits: rows of B that share sets of a
// cache which address bits pick. How many there are depends on how long the rows are, so they are counted when a prediction asks for them.
type classes struct {
	pattern  *sparse.Pattern
	sample   sample
	inRegion []int64 // how many of the references drawn the regions have

	counting sync.Mutex
	counted  map[int]*references // by the number of classes
}

const (
	someClasses = 256  // say whether classes are read equally often
	unequal     = 1.25 // times what Σ (share of a class)² is where they are
	drawn       = 8    // one in so many non-zeros says so
	fewClasses  = 8    // that rows of B are in: with fewer all columns are taken for one class
)

// classesOf returns how many classes rows of B of so many bytes are in, a power of two, by how far apart those lie that share sets, or 0.
func classesOf(row float64, setBytes int64) int {
	n := int64(float64(setBytes) / math.Max(row, 1))
	if n < fewClasses {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}

// of returns the references to so many classes, a power of two, as if the non-zeros were sorted by class. The first call for a number takes about as
// long as NewProfile.
func (c *classes) of(number, threads int) *references {
	c.counting.Lock()
	defer c.counting.Unlock()
	if c.counted[number] == nil {
		c.counted[number] = c.count(number, threads)
	}
	return c.counted[number]
}

func (c *classes) count(number, threads int) *references {
	p, nnz := c.pattern, c.pattern.NNZ()
	mask, shift := int32(number-1), shiftOf(nnz)
	chunks := c.sample.chunksOf(nnz, threads)
	inClass := make([][]int64, chunks)
	parallel.Ranges(chunks, nnz, func(chunk int, lo, hi int64) {
		counts := make([]int64, number)
		for _, j := range p.ColIdx[lo:hi] {
			counts[j&mask]++
		}
		inClass[chunk] = counts
	})
	// Where the references of each class begin in each chunk, when they are sorted by class.
	start := int64(0)
	for class := range number {
		for _, counts := range inClass {
			counts[class], start = start, start+counts[class]
		}
	}
	stamps := make([]stamp, chunks)
	for chunk, next := range inClass {
		stamps[chunk] = func(_ int64, columns []int32, _ []uint16, now *[stretch]uint32) {
			for z, j := range columns {
				n := &next[j&mask]
				now[z&(stretch-1)] = uint32(*n>>(shift&63)) + 1
				*n++
			}
		}
	}
	return c.sample.countReferences(p.ColIdx, p.Cols, shift, stamps, [][]int64{c.inRegion})
}

// sameOfTwo returns how likely two different ones of all that is counted are in the same part.
func sameOfTwo(counts []int64) float64 {
	sum, pairs := 0.0, 0.0
	for _, n := range counts {
		sum, pairs = sum+float64(n), pairs+float64(n)*float64(n-1)
	}
	return pairs / math.Max(sum*(sum-1), 1)
}
