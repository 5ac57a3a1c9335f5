package tiling

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Shared is a pattern cut for GPUs that keep rows of B in shared memory: panels of Width columns, the popular ones
// first, crossed with blocks of at most Height rows. What a panel and a block of rows have in common is a cell, or several of at most
// DenseWidth columns where the panel is dense, and the work is in Items: a cell or a piece of one each. Non-zeros whose columns are in no panel are the Rest.
type Shared struct {
	Width  int // columns of a panel, at most 65536
	Height int // most rows of a block, at most 65536

	// Cols are the columns of the panels: panel q has Cols[q·Width : (q+1)·Width], the last one may have fewer.
	Cols []int32

	// Items are the work, the cells of a block of rows one after another, so that its rows of A stay in a cache. What one block of
	// threads takes at a time is a share: number n has the items [Shares[n], Shares[n+1]). Cells of dense panels come after all
	// shares, whole.
	Items  []Item
	Shares []int32

	// Local[e] is a non-zero of the pattern in row item.Row + Local[e]>>16 and column
	// Cols[item.Panel·Width + Local[e]&65535], with DenseWidth in the place of Width for dense cells. The entries of a cell are by row, and in a row as in the
	// pattern. A cell has a multiple of SharedAlign of them: copies of the last one fill up, and belong to no item.
	Local []uint32

	// Entry leads back: non-zero z of the pattern, in a block of rows b, is entry Blocks[b].Entry + Entry[z],
	// or belongs to the rest where that is NoEntry.
	Entry  []uint32
	Blocks []Block

	// Rest has the other non-zeros, in the order of the pattern, and its non-zero z is the pattern's non-zero
	// RestAt[z]. It is nil where there are none.
	Rest   *sparse.Pattern
	RestAt []int64
}

// Block is a block of rows.
type Block struct {
	Lo, Hi int64 // its non-zeros
	Entry  int64 // its first entry
}

// NoEntry is the Entry of non-zeros that are in no panel.
const NoEntry = math.MaxUint32

// SharedAlign is what the first entries of items are multiples of.
const SharedAlign = 16

// minCells is the number of cells that any pattern may have.
const minCells = 1 << 20

const (
	maxLocal    = 1 << 16
	maxBlockNNZ = 1 << 31 // and so its entries have numbers of 32 bits
)

// SharedCut says how to cut a Shared.
type SharedCut struct {
	Width, Height int // columns of a panel and most rows of a block, 1 to 65536
	Panels        int // how many, at most
	Dense         int // how many of them, the first ones, are dense
	Units         int // of the GPU, each of which has one item at a time
}

// DenseWidth is the columns of dense panels that are cells of their own: as many as a block of threads multiplies.
const DenseWidth = 224

// Cells is how a Shared is cut before anything is put into it. It depends on the row pointers alone.
type Cells struct {
	Width, Columns int   // columns of a panel, and in all panels
	Dense          int   // panels, the first ones, that are dense
	Each           int   // cells of a block of rows: those of dense panels and then the panels
	Units          int   // of the GPU
	Rows           []int // block b has the rows [Rows[b], Rows[b+1])
}

// DenseColumns returns the columns in dense panels.
func (c *Cells) DenseColumns() int { return min(c.Dense*c.Width, c.Columns) }

// denseCells returns the cells of a block of rows that are dense.
func (c *Cells) denseCells() int { return (c.DenseColumns() + DenseWidth - 1) / DenseWidth }

// place returns the cell of a block of rows that has the column of a rank, and where in it the column is.
func (c *Cells) place(rank int) place {
	if rank >= c.Columns {
		return place{-1, 0}
	}
	if dense := c.DenseColumns(); rank >= dense {
		return place{int32(c.denseCells() + (rank-dense)/c.Width), int32((rank - dense) % c.Width)}
	}
	return place{int32(rank / DenseWidth), int32(rank % DenseWidth)}
}

// NewCells cuts a pattern with the given row pointers and number of columns. There may be no more cells than non-zeros, or about a million when that is more, and no more than
// fit 31 bits; nor more rows than that.
func NewCells(rowPtr []int64, cols int, cut SharedCut) (*Cells, error) {
	const op = "tiling.NewShared"
	nnz := rowPtr[len(rowPtr)-1]
	if cut.Width < 1 || cut.Height < 1 || cut.Width > maxLocal || cut.Height > maxLocal || cut.Panels < 0 || cut.Dense < 0 || cut.Units < 1 {
		return nil, fmt.Errorf("%s: %d panels of %d columns, %d of them dense, in blocks of %d rows for %d units; want 1 to %d columns and rows, and a unit",
			op, cut.Panels, cut.Width, cut.Dense, cut.Height, cut.Units, maxLocal)
	}
	c := &Cells{Width: cut.Width, Columns: cols, Units: cut.Units, Rows: rowBlocks(rowPtr, cut.Height, maxBlockNNZ)}
	if cut.Panels < (cols+cut.Width-1)/cut.Width {
		c.Columns = cut.Panels * cut.Width
	}
	c.Dense = min(cut.Dense, (c.Columns+cut.Width-1)/cut.Width)
	c.Each = c.denseCells() + (c.Columns-c.DenseColumns()+cut.Width-1)/cut.Width
	if cells := int64(c.Each) * int64(c.Blocks()); cells > min(max(nnz, minCells), math.MaxInt32) {
		return nil, fmt.Errorf("%s: %d panels and %d blocks of rows are too many for %d non-zeros", op, c.Each, c.Blocks(), nnz)
	}
	return c, nil
}

// Blocks returns the number of blocks of rows.
func (c *Cells) Blocks() int { return len(c.Rows) - 1 }

// NewShared cuts p into panels of columns in the order by, and blocks of rows, as NewCells says. The rows of p need not be sorted. It takes two passes over the non-zeros, by rows, and the result does not depend on
// the number of threads.
func NewShared(p *sparse.Pattern, by Order, cut SharedCut, threads int) (*Shared, error) {
	if len(by.Old) != p.Cols || len(by.New) != p.Cols {
		return nil, fmt.Errorf("tiling.NewShared: an order of %d columns for a pattern of %d", len(by.Old), p.Cols)
	}
	if p.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("tiling.NewShared: %d rows; want at most %d", p.Rows, math.MaxInt32)
	}
	cells, err := NewCells(p.RowPtr, p.Cols, cut)
	if err != nil {
		return nil, err
	}
	w := &sharedWork{p: p, cells: cells, columns: make([]place, p.Cols), threads: parallel.Threads(threads)}
	for rank, j := range by.Old {
		w.columns[j] = cells.place(rank)
	}
	s := &Shared{Width: cut.Width, Height: cut.Height, Cols: by.Old[:cells.Columns]}
	w.cutChunks()
	rest := w.count()
	entries := w.place(s)
	s.Local, s.Entry = make([]uint32, entries), make([]uint32, p.NNZ())
	if n := rest[p.Rows]; n > 0 {
		s.Rest = &sparse.Pattern{Rows: p.Rows, Cols: p.Cols, RowPtr: rest, ColIdx: make([]int32, n)}
		s.RestAt = make([]int64, n)
	}
	w.fill(s)
	return s, nil
}

// rowBlocks cuts rows into blocks of at most height rows and limit non-zeros, a row being always one with fewer: block b
// has rows [cuts[b], cuts[b+1]).
func rowBlocks(rowPtr []int64, height int, limit int64) []int {
	cuts, rows := []int{0}, len(rowPtr)-1
	for lo := 0; lo < rows; {
		hi := min(lo+height, rows)
		if rowPtr[hi]-rowPtr[lo] > limit {
			hi = lo + sort.Search(hi-lo, func(n int) bool { return rowPtr[lo+n+1]-rowPtr[lo] > limit })
			hi = max(hi, lo+1)
		}
		cuts = append(cuts, hi)
		lo = hi
	}
	return cuts
}

// sharedWork is a Shared in the making. Chunks are rows of one block, done at the same time as others.
type sharedWork struct {
	p       *sparse.Pattern
	cells   *Cells
	columns []place // where columns are
	chunks  []sharedChunk
	threads int
}

// place is where a column is: in a cell of each block, -1 for the rest, and within it.
type place struct{ cell, local int32 }

type sharedChunk struct {
	lo, hi int     // rows
	block  int     //
	next   []int64 // per cell: how many entries, then where the next one goes
}

// cutChunks cuts the blocks of rows into chunks, no more than keep their counts within the size of the pattern.
func (w *sharedWork) cutChunks() {
	blocks := w.cells.Blocks()
	parts := 1
	if blocks > 0 {
		parts = int(max(1, min(int64((4*w.threads+blocks-1)/blocks), w.p.NNZ()/int64(max(w.cells.Each*blocks, 4096)))))
	}
	for b := range blocks {
		lo, rows := w.cells.Rows[b], w.cells.Rows[b+1]-w.cells.Rows[b]
		for c := range parts {
			w.chunks = append(w.chunks, sharedChunk{lo: lo + rows*c/parts, hi: lo + rows*(c+1)/parts, block: b})
		}
	}
}

// count counts the entries of every chunk in every cell, and returns the row pointers of the rest.
func (w *sharedWork) count() (rest []int64) {
	rest = make([]int64, w.p.Rows+1)
	chunkLoop(w.threads, len(w.chunks), func(n int) {
		c := &w.chunks[n]
		c.next = make([]int64, w.cells.Each)
		for i := c.lo; i < c.hi; i++ {
			for _, j := range w.p.Row(i) {
				if q := w.columns[j].cell; q >= 0 {
					c.next[q]++
				} else {
					rest[i+1]++
				}
			}
		}
	})
	for i := range w.p.Rows {
		rest[i+1] += rest[i]
	}
	return rest
}

// place makes the items, turns counts into places and returns the number of entries.
func (w *sharedWork) place(s *Shared) int64 {
	each := w.cells.Each
	counts := make([]int64, w.cells.Blocks()*each)
	for _, c := range w.chunks {
		for q, n := range c.next {
			counts[c.block*each+q] += n
		}
	}
	var places []int64
	s.Items, s.Shares, s.Blocks, places = w.cells.Items(w.p.RowPtr, counts)
	next := slices.Clone(places)
	for _, c := range w.chunks {
		for q, n := range c.next {
			at := &next[c.block*each+q]
			c.next[q], *at = *at, *at+n
		}
	}
	return places[len(counts)]
}

// fill writes the entries and the rest.
func (w *sharedWork) fill(s *Shared) {
	chunkLoop(w.threads, len(w.chunks), func(n int) {
		c := &w.chunks[n]
		row0 := w.cells.Rows[c.block]
		base := s.Blocks[c.block].Entry
		for i := c.lo; i < c.hi; i++ {
			local := uint32(i-row0) << 16
			rest := int64(0)
			if s.Rest != nil {
				rest = s.Rest.RowPtr[i]
			}
			for z := w.p.RowPtr[i]; z < w.p.RowPtr[i+1]; z++ {
				j := w.p.ColIdx[z]
				at := w.columns[j]
				if at.cell < 0 {
					s.Rest.ColIdx[rest], s.RestAt[rest], s.Entry[z] = j, z, NoEntry
					rest++
					continue
				}
				e := c.next[at.cell]
				c.next[at.cell]++
				s.Local[e], s.Entry[z] = local|uint32(at.local), uint32(e-base)
			}
		}
	})
	for _, item := range s.Items { // only the last of a cell ends elsewhere than at a multiple
		for e := item.Hi; e%SharedAlign != 0; e++ {
			s.Local[e] = s.Local[item.Hi-1]
		}
	}
}
