package tiling

import (
	"fmt"
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Segment is the part of a row that lies in one panel: N ≥ 1 non-zeros from Lo on. It is the first
// of its row when Lo is the row's pointer, and the last when Lo+N is the next row's.
type Segment struct {
	Lo  int64
	N   int32
	Row int32
}

// Panels is a pattern cut into panels of Width columns, each a list of segments, one for each row
// that is active in it. Every non-zero is in exactly one segment. Rows without non-zeros are in
// none.
type Panels struct {
	Width    int       // columns of a panel, T_j; the last panel may have fewer
	Segments []Segment // panel by panel, in a panel by increasing row
	Start    []int64   // the segments of panel q are Segments[Start[q]:Start[q+1]]

	// ColIdx are the column indices in the order of the segments, counted from the first column of their panel, so that a walk over a panel
	// reads them one after the other, knows the columns of the segments to come, and finds rows of B in a copy of the panel, too. Those of a
	// single panel are the pattern's own.
	ColIdx []int32

	// Work are the panels cut into units of about equal cost, in the order of the segments.
	// The units of panel q are Work[WorkStart[q]:WorkStart[q+1]].
	//
	// All units may run at the same time where each writes its non-zeros only (SDDMM).
	// Where units write rows (SpMM), those of one panel may run at the same time, except that
	// pieces of a segment go to slots that are added up in order afterwards; the next panel
	// starts when that is done, for a row may be active in many panels.
	Work      []PanelUnit
	WorkStart []int

	// Split are the segments that were cut into pieces, those of panel q being
	// Split[SplitStart[q]:SplitStart[q+1]]. Slots count from 0 in each panel.
	Split      []SplitRow
	SplitStart []int
	Slots      int // most pieces in one panel
}

// Count returns the number of panels.
func (p *Panels) Count() int { return len(p.Start) - 1 }

// Units returns the units of work of panel q.
func (p *Panels) Units(q int) []PanelUnit { return p.Work[p.WorkStart[q]:p.WorkStart[q+1]] }

// Columns cuts p into panels of width columns. The rows of p must be sorted (Pattern.SortRows),
// and p must be valid. Time and memory are proportional to NNZ + Rows; so there may be no more
// panels than non-zeros, or 65536 when that is more.
func Columns(p *sparse.Pattern, width, threads int) (*Panels, error) {
	w, err := newWalk("tiling.Columns", p, width, threads)
	if err != nil {
		return nil, err
	}
	if err := w.count(); err != nil {
		return nil, err
	}
	panels := &Panels{Width: width, Start: make([]int64, w.panels+1)}
	total, entries := int64(0), int64(0)
	for q := range w.panels {
		panels.Start[q] = total
		for c := range w.counts { // from here on the places of the chunk's next segment and non-zero
			segments, nnz := &w.counts[c][q], &w.entries[c][q]
			*segments, total = total, total+*segments
			*nnz, entries = entries, entries+*nnz
		}
	}
	panels.Start[w.panels] = total
	panels.Segments = make([]Segment, total)
	if w.panels == 1 {
		panels.ColIdx = p.ColIdx
	} else {
		panels.ColIdx = make([]int32, entries)
	}
	w.fill(panels)
	panels.cut(threads)
	return panels, nil
}

// ActiveRows returns the number of active rows of each panel of width columns: the lengths of the
// segment lists that Columns makes, without making them.
func ActiveRows(p *sparse.Pattern, width, threads int) ([]int64, error) {
	w, err := newWalk("tiling.ActiveRows", p, width, threads)
	if err != nil {
		return nil, err
	}
	if err := w.count(); err != nil {
		return nil, err
	}
	active := make([]int64, w.panels)
	for _, c := range w.counts {
		for q, n := range c {
			active[q] += n
		}
	}
	return active, nil
}

// walk finds the segments of a pattern, several chunks of rows at a time. Chunks decide who does
// the work and not what comes out.
type walk struct {
	op      string
	p       *sparse.Pattern
	width   int
	panels  int
	rows    []int     // chunk c has rows [rows[c], rows[c+1])
	counts  [][]int64 // segments per chunk and panel
	entries [][]int64 // and non-zeros
	threads int
}

// minPanels is the number of panels that any pattern may have.
const minPanels = 1 << 16

func newWalk(op string, p *sparse.Pattern, width, threads int) (*walk, error) {
	if width < 1 {
		return nil, fmt.Errorf("%s: panels of %d columns; want at least 1", op, width)
	}
	if p.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %d rows; want at most %d", op, p.Rows, math.MaxInt32)
	}
	nnz := p.NNZ()
	panels := 0
	if p.Cols > 0 {
		panels = (p.Cols-1)/width + 1
	}
	if int64(panels) > max(nnz, minPanels) {
		return nil, fmt.Errorf("%s: panels of %d columns cut %d columns with %d non-zeros into %d panels; want at least %d columns a panel",
			op, width, p.Cols, nnz, panels, (int64(p.Cols)-1)/max(nnz, minPanels)+1)
	}
	threads = parallel.Threads(threads)
	// No more chunks than keep their counts within the size of the pattern.
	chunks := int(max(1, min(int64(4*threads), (nnz+int64(p.Rows))>>12, nnz/int64(max(2*panels, 1)))))
	return &walk{op: op, p: p, width: width, panels: panels, rows: cutRows(p, chunks),
		counts: make([][]int64, chunks), entries: make([][]int64, chunks), threads: threads}, nil
}

// count counts the segments and non-zeros of each chunk and panel, and checks that rows are sorted.
func (w *walk) count() error {
	bad := make([]int, len(w.counts)) // 1 + a row that is not sorted
	chunkLoop(w.threads, len(w.counts), func(c int) {
		count, entries := make([]int64, w.panels), make([]int64, w.panels)
		w.counts[c], w.entries[c] = count, entries
		for i := w.rows[c]; i < w.rows[c+1]; i++ {
			row := w.p.Row(i)
			last, q, end, lo := int32(-1), 0, 0, 0
			for z, j := range row {
				if j <= last || int(j) >= w.p.Cols {
					bad[c] = i + 1
					return
				}
				last = j
				if int(j) >= end {
					entries[q] += int64(z - lo)
					lo, q = z, int(j)/w.width
					end = (q + 1) * w.width
					count[q]++
				}
			}
			if len(row) > 0 {
				entries[q] += int64(len(row) - lo)
			}
		}
	})
	for _, b := range bad {
		if b > 0 {
			return fmt.Errorf("%s: the columns of row %d are not increasing within [0,%d); sort the rows first", w.op, b-1, w.p.Cols)
		}
	}
	return nil
}

// fill writes the segments and their columns; counts and entries hold the places. Those of a single panel stay where they are.
func (w *walk) fill(panels *Panels) {
	chunkLoop(w.threads, len(w.counts), func(c int) {
		next, places := w.counts[c], w.entries[c]
		for i := w.rows[c]; i < w.rows[c+1]; i++ {
			lo, row := w.p.RowPtr[i], w.p.Row(i)
			for len(row) > 0 {
				q, n := 0, len(row)
				if w.panels > 1 {
					q = int(row[0]) / w.width
					n = copyPanel(panels.ColIdx[places[q]:], row, q*w.width, w.width)
					places[q] += int64(n)
				}
				panels.Segments[next[q]] = Segment{Lo: lo, N: int32(n), Row: int32(i)}
				next[q]++
				lo, row = lo+int64(n), row[n:]
			}
		}
	})
}

// copyPanel copies the columns at the beginning of row that are in the panel of width columns from first on, counted from there, and returns
// their number.
func copyPanel(to, row []int32, first, width int) int {
	to = to[:min(len(to), len(row))]
	for z := range to {
		j := int(row[z]) - first
		if j >= width {
			return z
		}
		to[z] = int32(j)
	}
	return len(to)
}
