package tiling

import (
	"math"
	"sort"
)

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
	sum := 1.0
	for cell, n := range counts {
		if n == 0 {
			continue
		}
		b := cell / c.Panels
		rows := float64(c.Rows[b+1] - c.Rows[b])
		active := rows * -math.Expm1(-float64(n)/rows) // if columns are where they are by chance
		each[cell] = 1 + rowCost*active/float64(n)
		sum += panelCost + float64(n)*each[cell]
	}
	least := sum / float64(c.Units)
	steps := sort.Search(1000, func(step int) bool { // of a hundredth; beyond a thousand, all in one
		shares := 0
		cutShares(counts, each, least*(1+float64(step)/100), func(p part) {
			if p.first {
				shares++
			}
		})
		return shares <= c.Units
	})
	most := least * (1 + float64(steps)/100)
	if steps == 1000 {
		most = math.Inf(1)
	}
	var all []part
	cutShares(counts, each, most, func(p part) { all = append(all, p) })
	return all
}

// cutShares cuts cells, an entry of which costs each, into shares that cost about most.
func cutShares(counts []int64, each []float64, most float64, emit func(part)) {
	left, first := most, true
	for cell, n := range counts {
		for lo := int64(0); lo < n; {
			if !first && left < panelCost+leastPart*each[cell] {
				left, first = most, true
			}
			entries := int64(min(max(left-panelCost, leastPart)/each[cell], float64(n-lo), mostItem)) / SharedAlign * SharedAlign
			entries = max(entries, SharedAlign)
			if n-lo-entries < leastPart {
				entries = n - lo
			}
			emit(part{cell, lo, lo + entries, first})
			left -= panelCost + float64(entries)*each[cell]
			lo += entries
			first = false
		}
	}
}
