package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"sddmmkit/internal/parallel"
)

// maxDim is the largest number of rows or columns: indices and their count fit an int32.
const maxDim = math.MaxInt32

// DuplicateError reports a position that is stored more than once.
type DuplicateError struct {
	Row, Col int
	// First and Second are the places of the first two of the entries in the triplets they came
	// from, both -1 when the matrix did not come from triplets.
	First, Second int64
}

func (e *DuplicateError) Error() string {
	if e.First < 0 {
		return fmt.Sprintf("sparse: position (%d, %d) is stored more than once in its row or column; rebuild the matrix from triplets with FromCOO and SumDuplicates or LastDuplicate", e.Row, e.Col)
	}
	return fmt.Sprintf("sparse: position (%d, %d) is given more than once, first by entries %d and %d; set BuildOptions.Duplicates to SumDuplicates or LastDuplicate to merge",
		e.Row, e.Col, e.First, e.Second)
}

// Validate reports the first thing that is wrong with the structure: sizes, lengths, row pointers
// that do not start at 0 or that decrease, a column out of range, a column that repeats within
// its row (a *DuplicateError). Columns need not be sorted. It runs on all CPUs and its scratch
// does not grow with the number of non-zeros.
func (p *Pattern) Validate() error {
	return byRows.validate(p.Rows, p.Cols, p.RowPtr, p.ColIdx)
}

// Validate checks the pattern as [Pattern.Validate] does, and the number of values. The values
// themselves may be anything.
func (m *CSR[T]) Validate() error {
	if err := m.Pattern.Validate(); err != nil {
		return err
	}
	return byRows.checkValues(len(m.Val), m.NNZ())
}

// Validate checks the matrix as [CSR.Validate] does, with rows and columns exchanged.
func (c *CSC[T]) Validate() error {
	if err := byCols.validate(c.Cols, c.Rows, c.ColPtr, c.RowIdx); err != nil {
		return err
	}
	return byCols.checkValues(len(c.Val), int64(len(c.RowIdx)))
}

// Validate reports sizes and lengths that do not fit and the first entry whose row or column is
// out of range. Duplicates and the values are not looked at.
func (c *COO[T]) Validate() error {
	_, err := scanCOO(c, parallel.Threads(0))
	return err
}

// compressed names the parts of a compressed format, so that CSR and CSC share one check.
type compressed struct {
	format, major, minor, ptr, idx string
}

var (
	byRows = compressed{"CSR", "row", "column", "RowPtr", "ColIdx"}
	byCols = compressed{"CSC", "column", "row", "ColPtr", "RowIdx"}
)

func (f compressed) checkValues(got int, nnz int64) error {
	if int64(got) != nnz {
		return fmt.Errorf("sparse: %s matrix has %d values for %d non-zeros; want one each", f.format, got, nnz)
	}
	return nil
}

func (f compressed) validate(major, minor int, ptr []int64, idx []int32) error {
	if major < 0 || major > maxDim || minor < 0 || minor > maxDim {
		return fmt.Errorf("sparse: %s matrix with %d %ss and %d %ss; want 0 to %d each", f.format, major, f.major, minor, f.minor, maxDim)
	}
	if len(ptr) != major+1 {
		return fmt.Errorf("sparse: %s matrix with %d %ss has %d entries in %s; want %d", f.format, major, f.major, len(ptr), f.ptr, major+1)
	}
	if ptr[0] != 0 {
		return fmt.Errorf("sparse: %s[0] is %d; want 0", f.ptr, ptr[0])
	}
	for i := range major {
		if ptr[i+1] < ptr[i] {
			return fmt.Errorf("sparse: %s decreases at %s %d, from %d to %d; want it never to decrease", f.ptr, f.major, i, ptr[i], ptr[i+1])
		}
	}
	if ptr[major] != int64(len(idx)) {
		return fmt.Errorf("sparse: %s ends at %d but %s has %d entries; want the same number", f.ptr, ptr[major], f.idx, len(idx))
	}
	cuts := cutByNNZ(ptr, workUnits(parallel.Threads(0), int64(len(idx))))
	bad := make([]error, len(cuts)-1)
	_ = parallel.Units(context.Background(), 0, len(bad), func(u int) {
		bad[u] = f.validateRows(cuts[u], cuts[u+1], minor, ptr, idx)
	})
	for _, err := range bad {
		if err != nil {
			return err
		}
	}
	return nil
}

// validateRows checks the indices of rows [lo, hi) of the compressed dimension.
func (f compressed) validateRows(lo, hi, minor int, ptr []int64, idx []int32) error {
	var finder repeatFinder
	for i := lo; i < hi; i++ {
		row := idx[ptr[i]:ptr[i+1]]
		increasing, last := true, int32(-1)
		for k, j := range row {
			if j < 0 || int(j) >= minor {
				return fmt.Errorf("sparse: %s %d of %s %d (%s[%d]) is out of range; want 0 to %d", f.minor, j, f.major, i, f.idx, ptr[i]+int64(k), minor-1)
			}
			increasing = increasing && j > last
			last = j
		}
		if increasing {
			continue
		}
		if j := finder.find(row, minor); j >= 0 {
			e := &DuplicateError{Row: i, Col: int(j), First: -1, Second: -1}
			if f == byCols {
				e.Row, e.Col = e.Col, e.Row
			}
			return e
		}
	}
	return nil
}

const (
	shortRow     = 4096    // rows up to this length are checked by sorting a copy
	windowBits   = 23      // longer rows set bits in a window of 2²³ columns: 1 MiB
	windowLength = 1 << 23 // columns in a window
)

// repeatFinder finds an index that repeats within a row, in scratch of at most 1 MiB.
type repeatFinder struct {
	sorted []int32
	bits   []uint64
}

// find returns the smallest index that occurs twice in row, or -1. Indices are in [0, n).
func (f *repeatFinder) find(row []int32, n int) int32 {
	if len(row) <= shortRow {
		f.sorted = append(f.sorted[:0], row...)
		slices.Sort(f.sorted)
		for k := 1; k < len(f.sorted); k++ {
			if f.sorted[k] == f.sorted[k-1] {
				return f.sorted[k]
			}
		}
		return -1
	}
	if f.bits == nil {
		f.bits = make([]uint64, (min(n, windowLength)+63)/64)
	}
	for window := int32(0); int64(window)<<windowBits < int64(n); window++ {
		clear(f.bits)
		repeated := int32(-1)
		for _, j := range row {
			if j>>windowBits != window {
				continue
			}
			b := j & (windowLength - 1)
			if f.bits[b>>6]&(1<<(b&63)) != 0 && (repeated < 0 || j < repeated) {
				repeated = j
			}
			f.bits[b>>6] |= 1 << (b & 63)
		}
		if repeated >= 0 {
			return repeated
		}
	}
	return -1
}

// workUnits is the number of pieces to cut n entries into: enough to balance the threads, and
// not so many that a piece is shorter than what starting it costs.
func workUnits(threads int, n int64) int {
	return int(max(1, min(int64(threads)*8, n>>12)))
}

// cutByNNZ cuts the rows of ptr into parts ranges of about the same number of non-zeros, an empty
// row counting as much as a non-zero: range u is rows [cuts[u], cuts[u+1]).
func cutByNNZ(ptr []int64, parts int) []int {
	rows := len(ptr) - 1
	total := ptr[rows] + int64(rows)
	cuts := make([]int, parts+1)
	for u := 1; u < parts; u++ {
		target := total / int64(parts) * int64(u)
		cuts[u] = max(cuts[u-1], sort.Search(rows, func(i int) bool { return ptr[i]+int64(i) >= target }))
	}
	cuts[parts] = rows
	return cuts
}
