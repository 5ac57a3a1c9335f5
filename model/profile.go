package model

import (
	"math"
	"math/bits"
	"slices"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// Profile is what the model knows of a pattern. It does not depend on K, the element type or the
// machine. It is made once and read only from then on.
type Profile struct {
	Rows, Cols int
	NNZ        int64
	ActiveRows int64 // rows with a non-zero
	ActiveCols int64 // columns with one: estimated from a sample where there are many

	// Segments[s] is the number of segments with panels of 2^s columns. It is nil where rows are not
	// sorted: there are no panels then.
	Segments []int64

	// The non-zeros, row by row, are references to rows of B.
	all *references

	// inClasses has them class by class, where a class are the columns with the same low bits: rows of B that share sets of a cache which
	// address bits pick. It is nil where classes are read about equally often, for then it would say what all says.
	inClasses *references
}

const (
	classes    = 256  // a class takes up as much of a cache as the others; that is what rows of 512 bytes make of a way of 128 KB
	fewClasses = 8    // that rows of B are in, by how far apart those lie that share sets: with fewer all columns are taken for one class
	unequal    = 1.25 // times what Σ (share of a class)² is where classes are equal
	drawn      = 8    // one in so many non-zeros says whether they are
)

// NewProfile looks at a valid pattern in O(NNZ + Rows + Cols), which takes about as long as an SDDMM at
// K = 16, and twice that where it looks at classes. The result is the same for any number of threads.
func NewProfile(p *sparse.Pattern, threads int) *Profile {
	f := &Profile{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ()}
	f.countNonZeros(p, threads)
	f.ActiveCols = int64(f.all.columns)
	if s, err := tiling.SegmentCounts(p, threads); err == nil {
		f.Segments = s
	}
	if n := len(f.Segments); n > 0 {
		f.ActiveRows = f.Segments[n-1]
	} else {
		for i := range p.Rows {
			if p.RowPtr[i+1] > p.RowPtr[i] {
				f.ActiveRows++
			}
		}
	}
	return f
}

// countNonZeros looks at the non-zeros row by row and, where it makes a difference, class by class.
func (f *Profile) countNonZeros(p *sparse.Pattern, threads int) {
	nnz := f.NNZ
	// Tables take up to 8 bytes a column and chunk: no more of them than the pattern itself is large.
	if nnz == 0 || int64(p.Cols) > max(4*nnz, 1<<20) {
		// A matrix of almost no non-zeros: as if no column had two.
		f.all = &references{number: nnz, each: 1}
		f.all.region = region{refs: float64(nnz), columns: float64(min(nnz, int64(p.Cols))), reuse: newHistogram(), gaps: newHistogram()}
		f.all.sumUp(1, nnz)
		return
	}
	// Patterns with more than 2³¹ non-zeros are counted in coarser steps.
	shift := max(bits.Len64(uint64(nnz))-31, 0)
	s := newSample(p.Cols)
	chunks := s.chunksOf(nnz, threads)
	inClass, inRegion, stamps := make([][]int64, chunks), make([][]int64, chunks), make([]stamp, chunks)
	region := regionOf(p.Cols) & 31
	for c := range stamps {
		counts, byRegion := make([]int64, classes), make([]int64, regionsOf(p.Cols))
		inClass[c], inRegion[c] = counts, byRegion
		stamps[c] = func(from int64, columns []int32, of []uint16, now *[stretch]uint32) {
			for _, z := range of {
				now[z&(stretch-1)] = uint32((from+int64(z))>>shift) + 1
			}
			for z := -from & (drawn - 1); z < int64(len(columns)); z += drawn {
				counts[columns[z]&(classes-1)]++
				byRegion[columns[z]>>region]++
			}
		}
	}
	f.all = s.countReferences(p.ColIdx, p.Cols, chunks, shift, stamps, inRegion)
	if sameOfTwo(sumOf(inClass))*classes <= unequal {
		return
	}
	parallel.Ranges(chunks, nnz, func(c int, lo, hi int64) {
		clear(inClass[c])
		for _, j := range p.ColIdx[lo:hi] {
			inClass[c][j&(classes-1)]++
		}
	})
	// Where the references of each class begin in each chunk, when they are sorted by class.
	start := int64(0)
	for class := range classes {
		for _, n := range inClass {
			n[class], start = start, start+n[class]
		}
	}
	for c, next := range inClass {
		stamps[c] = func(_ int64, columns []int32, _ []uint16, now *[stretch]uint32) {
			for z, j := range columns {
				n := &next[j&(classes-1)]
				now[z&(stretch-1)] = uint32(*n>>(shift&63)) + 1
				*n++
			}
		}
	}
	f.inClasses = s.countReferences(p.ColIdx, p.Cols, chunks, shift, stamps, inRegion)
}

// sumOf adds up counts of several chunks.
func sumOf(chunks [][]int64) []int64 {
	sum := slices.Clone(chunks[0])
	for _, more := range chunks[1:] {
		for k, n := range more {
			sum[k] += n
		}
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

// segments returns the number of segments with panels of width columns, between powers of two on a
// straight line in logarithms.
func (f *Profile) segments(width float64) float64 {
	if f.Segments == nil || width >= float64(f.Cols) {
		return float64(f.ActiveRows)
	}
	s := math.Log2(math.Max(width, 1))
	k := min(int(s), len(f.Segments)-1)
	next := min(k+1, len(f.Segments)-1)
	a, b := float64(f.Segments[k]), float64(f.Segments[next])
	if a <= 0 || b <= 0 {
		return a
	}
	return a * math.Pow(b/a, s-float64(k))
}

// activeRows returns how many rows have non-zeros in a panel with so many of them.
func (f *Profile) activeRows(nnz float64) float64 {
	width := min(nnz/math.Max(float64(f.NNZ), 1), 1) * float64(f.Cols)
	return min(f.segments(width)*width/math.Max(float64(f.Cols), 1), nnz)
}
