package model

import (
	"math"
	"math/bits"

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
	ActiveCols int64

	// Segments[s] is the number of segments with panels of 2^s columns. It is nil where rows are not
	// sorted: there are no panels then.
	Segments []int64

	// The non-zeros, row by row, are references to rows of B. reuse counts them by the number of
	// references since the one before to the same row; the first to each row is in none of the bins.
	// gaps has the same, and the stretches before the first and after the last reference.
	reuse, gaps histogram

	// From the end of gaps: number and total length of those in a bin and beyond.
	gapsFrom, gapLengthFrom []float64
	reuseUpTo               []float64 // number of references in bins before this one
}

// NewProfile looks at a valid pattern in O(NNZ + Rows + Cols), which takes about as long as an SDDMM at
// K = 32. The result is the same for any number of threads.
func NewProfile(p *sparse.Pattern, threads int) *Profile {
	f := &Profile{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ()}
	segments := func(threads int) {
		if s, err := tiling.SegmentCounts(p, threads); err == nil {
			f.Segments = s
		}
	}
	if threads = parallel.Threads(threads); threads > 1 && f.chunks(threads) == 1 {
		parallel.Ranges(2, 2, func(part int, _, _ int64) {
			if part == 0 {
				f.countReuse(p, 1)
			} else {
				segments(threads - 1)
			}
		})
	} else {
		f.countReuse(p, threads)
		segments(threads)
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
	f.sumUp()
	return f
}

// sumUp fills in the running sums of the histograms.
func (f *Profile) sumUp() {
	n := len(f.gaps)
	f.gapsFrom, f.gapLengthFrom, f.reuseUpTo = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for b := n - 1; b >= 0; b-- {
		f.gapsFrom[b] = f.gapsFrom[b+1] + float64(f.gaps[b].count)
		f.gapLengthFrom[b] = f.gapLengthFrom[b+1] + float64(f.gaps[b].sum)
	}
	for b := range n {
		f.reuseUpTo[b+1] = f.reuseUpTo[b] + float64(f.reuse[b].count)
	}
}

// seen is when columns were seen first and last in a chunk, in references counted from 1; 0 is never. The first chunk counts its first
// references at once, and keeps only the last. Patterns with more than 2³¹ non-zeros are counted in coarser steps.
type seen struct{ first, last []uint32 }

// chunks returns how many chunks of the non-zeros are looked at by themselves. Each has a table of all columns, which takes as long to make and to
// go through as some non-zeros of each column.
func (f *Profile) chunks(threads int) int {
	const perColumn = 4
	return int(max(1, min(int64(parallel.Threads(threads)), f.NNZ/perColumn/int64(max(f.Cols, 1)), 16)))
}

// countReuse fills in reuse, gaps and ActiveCols. Chunks of the non-zeros are looked at by
// themselves; what crosses the border of chunks is added afterwards.
func (f *Profile) countReuse(p *sparse.Pattern, threads int) {
	f.reuse, f.gaps = newHistogram(), newHistogram()
	nnz := f.NNZ
	// The tables take 8 bytes a column and chunk: no more of them than the pattern itself is large.
	if int64(p.Cols) > max(4*nnz, 1<<20) {
		// A matrix of almost no non-zeros: as if no column had two.
		f.ActiveCols = min(nnz, int64(p.Cols))
		return
	}
	shift := max(bits.Len64(uint64(nnz))-31, 0)
	chunks := f.chunks(threads)
	table := make([]seen, chunks)
	parts := make([]histogram, chunks)
	parallel.Ranges(chunks, nnz, func(c int, lo, hi int64) {
		h, t := newHistogram(), seen{last: make([]uint32, p.Cols)}
		if c > 0 {
			t.first = make([]uint32, p.Cols)
		}
		for z, j := range p.ColIdx[lo:hi] {
			now := uint32((lo+int64(z))>>shift) + 1
			switch before := t.last[j]; {
			case before != 0:
				h.add(uint64(now - before))
			case c > 0:
				t.first[j] = now
			default:
				f.gaps.add(uint64(now))
			}
			t.last[j] = now
		}
		table[c], parts[c] = t, h
	})
	for _, h := range parts {
		f.reuse.merge(h)
	}
	f.gaps.merge(f.reuse)
	// Columns: the stretches between chunks, and at both ends.
	end := uint32((nnz-1)>>shift) + 1
	active := make([]int64, chunks)
	crossing, ends := make([]histogram, chunks), make([]histogram, chunks)
	parallel.Ranges(chunks, int64(p.Cols), func(c int, lo, hi int64) {
		crossing[c], ends[c] = newHistogram(), newHistogram()
		for j := lo; j < hi; j++ {
			last := uint32(0)
			for n, t := range table {
				switch {
				case t.last[j] == 0:
					continue
				case last != 0:
					crossing[c].add(uint64(t.first[j] - last))
				case n > 0:
					ends[c].add(uint64(t.first[j]))
				}
				last = t.last[j]
			}
			if last != 0 {
				ends[c].add(uint64(end - last + 1))
				active[c]++
			}
		}
	})
	for c := range crossing {
		if crossing[c] == nil {
			continue // fewer columns than chunks
		}
		f.reuse.merge(crossing[c])
		f.gaps.merge(crossing[c])
		f.gaps.merge(ends[c])
		f.ActiveCols += active[c]
	}
	f.reuse.scale(shift)
	f.gaps.scale(shift)
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

// footprint returns how many different rows of B a window of refs references has, on average over all
// windows of that length (Xiang et al., HOTL, ASPLOS 2013):
//
//	m − Σ_gaps longer than refs (gap − refs) / (n − refs + 1)
func (f *Profile) footprint(refs float64) float64 {
	m, n := float64(f.ActiveCols), float64(f.NNZ)
	switch {
	case refs <= 0:
		return 0
	case f.gapsFrom[0] == 0: // not counted
		return math.Min(refs, m)
	case refs >= n:
		return m
	}
	b := bin(uint64(refs)) + 1
	missing := f.gapLengthFrom[b] - refs*f.gapsFrom[b]
	// The bin that refs lies in holds gaps on both sides of it.
	lo, hi := binStart(b-1), binStart(b)
	if in, sum := float64(f.gaps[b-1].count), float64(f.gaps[b-1].sum); in > 0 {
		longer := (hi - refs) / (hi - lo)
		missing += math.Max(sum*longer-refs*in*longer, 0)
	}
	return math.Max(math.Min(m-missing/(n-refs+1), math.Min(m, refs)), math.Min(1, m))
}

// reused returns how many references come at most refs references after the one before to the same
// row.
func (f *Profile) reused(refs float64) float64 {
	switch {
	case refs < 1:
		return 0
	case refs >= float64(f.NNZ):
		return f.reuseUpTo[len(f.reuseUpTo)-1]
	}
	b := bin(uint64(refs))
	lo, hi := binStart(b), binStart(b+1)
	return f.reuseUpTo[b] + float64(f.reuse[b].count)*math.Min((refs-lo+1)/(hi-lo), 1)
}
