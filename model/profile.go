package model

import (
	"math"
	"math/bits"

	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// Profile is what the model knows of a pattern. It does not depend on K, the element type or the
// machine. It is made once, and what it says does not change from then on; several goroutines may read it. It keeps the pattern, which must not
// change either.
type Profile struct {
	Rows, Cols int
	NNZ        int64
	ActiveRows int64 // rows with a non-zero
	ActiveCols int64 // columns with one: estimated from a sample where there are many
	InPieces   bool  // a row is so long that it is more than one unit of work (tiling.Cut)

	// Segments[s] is the number of segments with panels of 2^s columns. It is nil where rows are not
	// sorted: there are no panels then.
	Segments []int64

	// following[s] is the share of these whose row is the one after that of another in the same panel, from a sample of the rows.
	following []float64

	// The non-zeros, row by row, are references to rows of B.
	all *references

	// classes has them class by class. It is nil where classes are read about equally often, for then it would say what all says.
	classes *classes
}

// NewProfile looks at a valid pattern in O(NNZ + Rows + Cols), which takes about as long as one to three
// calls of SDDMM at K = 32. The result is the same for any number of threads.
func NewProfile(p *sparse.Pattern, threads int) *Profile {
	f := &Profile{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ()}
	f.countNonZeros(p, threads)
	f.ActiveCols = int64(f.all.columns)
	f.InPieces = hasRowOf(p, tiling.UnitCost(p))
	if s, err := tiling.SegmentCounts(p, threads); err == nil {
		f.Segments, f.following = s, tiling.FollowingShares(p, threads)
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

// hasRowOf reports whether a row has as many non-zeros, or more.
func hasRowOf(p *sparse.Pattern, nnz int64) bool {
	for i := range p.Rows {
		if p.RowPtr[i+1]-p.RowPtr[i] >= nnz {
			return true
		}
	}
	return false
}

// countNonZeros looks at the non-zeros row by row.
func (f *Profile) countNonZeros(p *sparse.Pattern, threads int) {
	nnz := f.NNZ
	// Tables take up to 8 bytes a column and chunk: no more of them than the pattern itself is large.
	if nnz == 0 || int64(p.Cols) > max(4*nnz, 1<<20) {
		// A matrix of almost no non-zeros: as if no column had two.
		f.all = &references{number: nnz, each: 1}
		f.all.region = region{refs: float64(nnz), columns: float64(min(nnz, int64(p.Cols))), reuse: newHistogram(nnz), gaps: newHistogram(nnz)}
		f.all.sumUp(1, nnz)
		return
	}
	s := newSample(p.Cols)
	shift := shiftOf(nnz)
	var from draws
	f.all, from = s.countReferences(p.ColIdx, p.Cols, shift, threads, func(first int64, _ []int32, of []uint16, now *[stretch]uint32) {
		for _, z := range of {
			now[z&(stretch-1)] = uint32((first+int64(z))>>shift) + 1
		}
	}, draws{})
	if sameOfTwo(folded(from.inClass, someClasses))*someClasses > unequal {
		f.classes = &classes{pattern: p, sample: s, draws: from, counted: make(map[int]*references)}
	}
}

// shiftOf returns the power of two of references that a step of time has: patterns with more than 2³¹ non-zeros are counted in coarser steps.
func shiftOf(nnz int64) int { return max(bits.Len64(uint64(nnz))-31, 0) }

// segments returns the number of segments with panels of width columns, between powers of two on a
// straight line in logarithms.
func (f *Profile) segments(width float64) float64 {
	if f.Segments == nil || width >= float64(f.Cols) {
		return float64(f.ActiveRows)
	}
	k, next, part := powersAround(width, len(f.Segments))
	a, b := float64(f.Segments[k]), float64(f.Segments[next])
	if a <= 0 || b <= 0 {
		return a
	}
	return a * math.Pow(b/a, part)
}

// powersAround returns the powers of two on both sides of a width, of n that there are, and how far it is from the first to the second, in logarithms.
func powersAround(width float64, n int) (k, next int, part float64) {
	s := math.Log2(math.Max(width, 1))
	k = min(int(s), n-1)
	return k, min(k+1, n-1), s - float64(k)
}

// next returns the share of segments with panels of width columns whose row comes after that of another in the same panel, between powers of two
// on a straight line.
func (f *Profile) next(width float64) float64 {
	if f.following == nil {
		return min(float64(f.ActiveRows)/math.Max(float64(f.Rows), 1), 1)
	}
	if width >= float64(f.Cols) {
		return f.following[len(f.following)-1]
	}
	k, next, part := powersAround(width, len(f.following))
	return f.following[k] + (f.following[next]-f.following[k])*part
}

// activeRows returns how many rows have non-zeros in a panel with so many of them.
func (f *Profile) activeRows(nnz float64) float64 {
	width := min(nnz/math.Max(float64(f.NNZ), 1), 1) * float64(f.Cols)
	return min(f.segments(width)*width/math.Max(float64(f.Cols), 1), nnz)
}
