package tiling

import "math"

// OneShareEach reports whether so many entries are cut into one share for each unit of a GPU: few entries are, for what a unit gains from
// having more to take than one share is less than more panels cost.
func OneShareEach(entries int64, units int) bool { return entries <= 4*LeastItem*int64(units) }

// What loading a panel and loading a row of A cost, in the time of an entry whose row of A is there. By the constants of model.GPU a row
// is 1.6 of it for K = 128 as well as for 512, and a panel 500 to 2000.
const (
	panelCost = 800
	rowCost   = 1.6
)

// leastPart is the number of entries that are not worth a panel of their own.
const leastPart = 256

// evenShares cuts cells into as many shares as there are units, of equal cost, by going through the cells in order: a share ends in a
// cell, and the next one begins there.
func (c *Cells) evenShares(counts []int64) []part {
	each := make([]float64, len(counts)) // cost of an entry
	sum := 0.0
	for cell, n := range counts {
		if n == 0 {
			continue
		}
		b := cell / c.Each
		rows := float64(c.Rows[b+1] - c.Rows[b])
		active := rows * -math.Expm1(-float64(n)/rows) // if columns are where they are by chance
		each[cell] = 1 + rowCost*active/float64(n)
		sum += panelCost + float64(n)*each[cell]
	}
	var all []part
	for percent := 100.0; ; percent++ { // shares do not come out as large as they may be, so they must be allowed to be a bit larger
		shares := 0
		all, shares = cutShares(all[:0], counts, each, sum/float64(c.Units)*percent/100)
		if shares <= c.Units {
			return all
		}
	}
}

// cutShares appends to all what cells, an entry of which costs each, are cut into, in shares that cost about most, and counts these.
func cutShares(all []part, counts []int64, each []float64, most float64) (parts []part, shares int) {
	left := 0.0
	for cell, n := range counts {
		for lo := int64(0); lo < n; {
			first := left < panelCost+leastPart*each[cell] || shares == 0
			if first {
				left = most
				shares++
			}
			entries := int64(min(max(left-panelCost, leastPart)/each[cell], float64(n-lo))) / SharedAlign * SharedAlign
			if entries = max(entries, SharedAlign); n-lo-entries < leastPart {
				entries = n - lo
			}
			all = append(all, part{cell, lo, lo + entries, first})
			left -= panelCost + float64(entries)*each[cell]
			lo += entries
		}
	}
	return all, shares
}
