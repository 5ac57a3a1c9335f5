package tiling

import "sort"

// Item is the entries [Lo, Hi) of a cell. Lo is a multiple of SharedAlign.
type Item struct {
	Panel  int32
	Row    int32 // first of the block of rows
	Lo, Hi int64
}

// ItemEntries returns the most entries of an item of a pattern with nnz non-zeros, for a GPU with so many units, each of which has
// one item at a time: there should be several for each, but not such that loading panels takes longer. Kernels count them with 32 bits.
func ItemEntries(nnz int64, units int) int64 {
	const wanted = 10 // for each unit
	return aligned(min(max(nnz/int64(wanted*units), LeastItem), 1<<30))
}

// LeastItem is the number of entries from which on a cell may be cut into items.
const LeastItem = 4096

// OneItemEach reports whether cells with so many entries are cut such that each unit of a GPU has one item at most: few entries are, for
// what a unit saves in waiting for others by having several is less than their panels cost.
func OneItemEach(entries int64, cells, units int) bool {
	return cells <= units/2 && entries <= 4*LeastItem*int64(units)
}

func aligned(entries int64) int64 { return (entries + SharedAlign - 1) / SharedAlign * SharedAlign }

// Items makes the Items and the Blocks of a pattern with the given row pointers whose cells, block by block, have counts
// non-zeros. places[c] is the first entry of cell c; one more is the number of entries.
func (c *Cells) Items(rowPtr, counts []int64) (items []Item, blocks []Block, places []int64) {
	size := c.sizes(rowPtr[len(rowPtr)-1], counts)
	places = make([]int64, len(counts)+1)
	at := int64(0)
	for b := range c.Blocks() {
		blocks = append(blocks, Block{Lo: rowPtr[c.Rows[b]], Hi: rowPtr[c.Rows[b+1]], Entry: at})
		for q := range c.Panels {
			cell := b*c.Panels + q
			lo, hi := at, at+counts[cell]
			units := (hi - lo + SharedAlign - 1) / SharedAlign
			parts := ceil(hi-lo, size(hi-lo))
			for k := range parts {
				// In even parts, of whole SharedAlign but for the last.
				items = append(items, Item{Panel: int32(q), Row: int32(c.Rows[b]),
					Lo: lo + units*k/parts*SharedAlign, Hi: min(lo+units*(k+1)/parts*SharedAlign, hi)})
			}
			places[cell] = lo
			at = lo + units*SharedAlign
		}
	}
	places[len(counts)] = at
	return items, blocks, places
}

// sizes returns a function that is told the entries of each cell in order and returns the most that an item of it has: the
// same for all where each unit has one, and otherwise less in the end, so that units end together.
func (c *Cells) sizes(nnz int64, counts []int64) func(entries int64) int64 {
	left, cells := int64(0), 0
	for _, n := range counts {
		left += n
		if n > 0 {
			cells++
		}
	}
	if OneItemEach(left, cells, c.Units) {
		size := leastSize(counts, left, int64(c.Units))
		return func(int64) int64 { return size }
	}
	most, wanted := ItemEntries(nnz, c.Units), int64(c.Units)*6/5 // of what is left
	return func(entries int64) int64 {
		size := min(most, max(left/wanted, LeastItem))
		left -= entries
		return size
	}
}

// leastSize returns the least size, a multiple of SharedAlign, of which cells with sum entries have no more items than wanted, which is no less
// than there are cells.
func leastSize(counts []int64, sum, wanted int64) int64 {
	least := aligned(max(ceil(sum, wanted), 1))
	more := sort.Search(int(sum/SharedAlign), func(n int) bool {
		items := int64(0)
		for _, entries := range counts {
			items += ceil(entries, least+SharedAlign*int64(n))
		}
		return items <= wanted
	})
	return least + SharedAlign*int64(more)
}

func ceil(n, by int64) int64 { return (n + by - 1) / by }
