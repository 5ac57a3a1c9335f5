package tiling

import "slices"

// Item is the entries [Lo, Hi) of a cell. Lo is a multiple of SharedAlign.
type Item struct {
	Panel  int32 // number of a panel, or of DenseWidth columns for a dense cell
	Row    int32 // first of the block of rows
	Lo, Hi int64
}

// ItemEntries returns the most entries of an item of a pattern with nnz non-zeros, for a GPU with so many units, each of which has
// one item at a time: there should be several for each, but not such that loading panels takes longer. Kernels count them with 32 bits.
func ItemEntries(nnz int64, units int) int64 {
	const wanted = 10 // for each unit
	return aligned(min(max(nnz/int64(wanted*units), LeastItem), 1<<30))
}

// LeastItem is the number of entries from which on a cell may be cut into items of their own shares.
const LeastItem = 4096

func aligned(entries int64) int64 { return ceil(entries, SharedAlign) * SharedAlign }

func ceil(n, by int64) int64 { return (n + by - 1) / by }

// Items makes the Items, Shares and Blocks of a pattern with the given row pointers whose cells, block by block, have counts
// non-zeros. places[c] is the first entry of cell c; one more is the number of entries. Dense cells are an item each, in no share, after all others.
func (c *Cells) Items(rowPtr, counts []int64) (items []Item, shares []int32, blocks []Block, places []int64) {
	places = make([]int64, len(counts)+1)
	for cell, n := range counts {
		places[cell+1] = places[cell] + aligned(n)
	}
	for b := range c.Blocks() {
		blocks = append(blocks, Block{Lo: rowPtr[c.Rows[b]], Hi: rowPtr[c.Rows[b+1]], Entry: places[b*c.Each]})
	}
	enter := func(cell int, lo, hi int64) {
		at, panel := places[cell], cell%c.Each
		if !c.dense(cell) {
			panel += c.Dense - c.denseCells()
		}
		items = append(items, Item{Panel: int32(panel), Row: int32(c.Rows[cell/c.Each]), Lo: at + lo, Hi: at + hi})
	}
	others := slices.Clone(counts)
	for cell := range counts {
		if c.dense(cell) {
			others[cell] = 0
		}
	}
	for _, p := range c.parts(rowPtr[len(rowPtr)-1], others) {
		if p.first {
			shares = append(shares, int32(len(items)))
		}
		enter(p.cell, p.lo, p.hi)
	}
	shares = append(shares, int32(len(items)))
	for cell, n := range counts {
		if c.dense(cell) && n > 0 {
			enter(cell, 0, n)
		}
	}
	return items, shares, blocks, places
}

// dense reports whether a cell is in one of the dense panels.
func (c *Cells) dense(cell int) bool { return cell%c.Each < c.denseCells() }

// part is the entries [lo, hi) of a cell. The first ones of shares say so.
type part struct {
	cell   int
	lo, hi int64
	first  bool
}

// parts cuts cells, of a pattern with nnz non-zeros, into items.
func (c *Cells) parts(nnz int64, counts []int64) []part {
	left := int64(0)
	for _, n := range counts {
		left += n
	}
	if OneShareEach(left, c.Units) {
		return c.evenShares(counts)
	}
	// Each item is a share. The last ones are smaller, for what is left shall make at least one and a fifth for each unit, so that units
	// end together.
	most, wanted := ItemEntries(nnz, c.Units), int64(c.Units)*6/5
	var all []part
	for cell, n := range counts {
		units := ceil(n, SharedAlign)
		parts := ceil(n, min(most, max(left/wanted, LeastItem)))
		for k := range parts { // even ones, of whole SharedAlign but for the last
			all = append(all, part{cell, units * k / parts * SharedAlign, min(units*(k+1)/parts*SharedAlign, n), true})
		}
		left -= n
	}
	return all
}
