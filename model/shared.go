package model

import (
	"fmt"
	"math"
	"slices"

	"sddmmkit/device"
	"sddmmkit/tiling"
)

// SharedSlices are the bytes of a slice of K that kernels of the shared scheme are made for, the last not for elements of 16 bits.
var SharedSlices = []int{128, 256, 512, 1024}

// Sides of a tile of dense panels, whose products a block of threads makes together, and the shared memory that it takes.
const (
	DenseRows  = 128
	DenseCols  = tiling.DenseWidth
	DenseBytes = 3*(DenseRows+DenseCols)*128 + 1024
)

// SharedDepths returns the elements of the slices that there are for elements of elemBytes bytes, by rising number.
func SharedDepths(elemBytes int) []int {
	var depths []int
	for _, bytes := range SharedSlices {
		if elemBytes > 2 || bytes < 1024 {
			depths = append(depths, bytes/elemBytes)
		}
	}
	return depths
}

// GPU is a device as the model of the shared scheme sees it: SDDMM with panels of popular columns, whose rows of B stay
// in shared memory while blocks of rows of A pass from L2 (tiling.Shared), against gathering all rows of B from L2.
type GPU struct {
	Units  int   // multiprocessors
	Shared int64 // bytes of shared memory that panels may take
	L2     int64 // bytes that are of use
	Dense  bool  // whether there are kernels for dense panels, of numbers of 16 bits
}

// usableL2 is the share of L2 that is thought to be of use where that was not measured. Of an H200's 60 MB it was 57.
const usableL2 = 0.9

// NewGPU returns the device with the given properties, l2 bytes of whose L2 were measured to be of use; 0 is for not
// measured. reserved is what kernels take of shared memory beside panels.
func NewGPU(p device.Props, l2, reserved int64) *GPU {
	if l2 <= 0 {
		l2 = int64(usableL2 * float64(p.L2Bytes))
	}
	g := &GPU{Units: max(p.Units, 1), Shared: max(p.SharedBytes-reserved, 0), L2: max(l2, 1<<20)}
	cc := 0
	fmt.Sscanf(p.Architecture, "sm_%d", &cc)
	g.Dense = cc >= denseFrom && g.Shared >= DenseBytes
	return g
}

// denseFrom is the compute capability from which on there are tensor cores for numbers of 16 bits.
const denseFrom = 80

// What a multiprocessor does in a cycle and what things cost it in cycles, fitted to one H200 in float32: ADR 11 has the
// measurements. Both schemes are limited by the same memories, and so their ratio holds where the clock does not.
const (
	clock = 1.9e9 // cycles a second

	gatherLaunch = 6000 // a launch, and waiting for the first rows and the last warp
	gatherRate   = 37.6 // bytes from L2
	gatherBytes  = 256  // of a row of B in a slice of K
	indexBytes   = 8    // that come with a row of B: its index, and the sum
	partBytes    = 4    // that come in each slice but the first as well: the sum so far
	gatherSlice  = 0.35 // of a non-zero of the rest in each slice but the first, beside what it reads
	restRow      = 64   // of a row of the rest in each slice
	memoryRate   = 17.5 // bytes from memory: of A and B, once

	// Of the non-zeros whose rows of B would fill a panel, popularHits are in L1 when all are gathered. usualShare is
	// taken for their share where columns are not counted.
	popularHits = 0.6
	usualShare  = 0.3

	bankRate      = 125   // bytes of rows of B from shared memory
	streamRate    = 80    // bytes of rows of A, and of panels, from L2
	sharedSlice   = 1.0   // of a non-zero in each slice of K, beside its rows
	shortSlice    = 2.8   // the same in 16 bits, of which numbers are made
	finishNonZero = 0.8   // putting a result in its place
	sharedItem    = 9000  // of an item in each slice, beside its panel: waiting for it, and for the last warp
	sharedLaunch  = 17000 // a counter and two launches

	denseSlice  = 1670 // of a tile of a dense panel, in each slice of denseDepth elements of K
	denseDepth  = 64
	denseTile   = 1300 // of a tile, beside its slices
	denseEntry  = 1.5  // of a non-zero: picking its product
	denseLaunch = 4000 // a launch, beside half a tile

	// sharedMargin is the share of the time of gathering that panels must be predicted to stay below: planning takes as
	// long as many calls.
	sharedMargin = 0.9

	// Counting is worth countingCalls of gathering and takes, in seconds, launches, and so much for a non-zero and for a column:
	// ADR 13.
	countingCalls = 5
	countLaunches = 0.22e-3
	countNonZero  = 2e-11
	countColumn   = 3e-10
)

// SharedWidth returns the columns of a panel for slices of depth elements, a multiple of 32 or what fits; 0 where nothing does.
func (g *GPU) SharedWidth(depth, elemBytes int) int {
	w := min(g.Shared/int64(depth*elemBytes), 1<<16)
	if w >= 32 {
		w -= w % 32
	}
	return int(w)
}

// SharedHeight returns the rows of a block: so many that their rows of A take three eighths of what is of use of L2.
func (g *GPU) SharedHeight(k, elemBytes int) int {
	return int(max(min(g.L2/8*3/int64(k*elemBytes), 1<<16), 1))
}

// SharedDepth returns the slice that takes K = k with the least traffic of shared memory; the smallest of equals would
// make rows of A pass more often, so it is the largest.
func SharedDepth(k, elemBytes int) int {
	best, least := 0, math.MaxInt
	for _, depth := range SharedDepths(elemBytes) {
		if padded := (k + depth - 1) / depth * depth; padded <= least {
			best, least = depth, padded
		}
	}
	return best
}

// SharedTask is an SDDMM whose scheme is to be chosen.
type SharedTask struct {
	Rows, Cols   int
	NNZ          int64
	K, ElemBytes int

	// Counts are the panels of each width that SharedWidth has for SharedSlices.
	Counts [][]tiling.PanelCount
}

// Choose returns the scheme: gather, which is the Tile of zeros, or shared, a Tile with all three sides and the number
// of panels.
func (g *GPU) Choose(t SharedTask) Choice {
	none := Prediction{Seconds: g.gathering(&t), Panels: 1}
	c := Choice{Prediction: none, Alternatives: []Prediction{none}}
	if c.Reason = g.withoutCounts(t); c.Reason != "" {
		return c
	}
	best, perRow := none, 0.0
	for n, depth := range SharedDepths(t.ElemBytes) {
		p, nnz := g.shared(t, n, depth)
		if p.Panels == 0 {
			continue
		}
		p.Seconds = g.seconds(t.memory() + p.Seconds)
		c.Alternatives = append(c.Alternatives, p)
		if p.Seconds < best.Seconds {
			best, perRow = p, float64(nnz)/p.Segments
		}
	}
	switch {
	case best.Tile == (Tile{}):
		c.Reason = "no panel of popular columns has enough non-zeros per active row to be faster from shared memory than from L2"
	case best.Seconds > sharedMargin*none.Seconds:
		c.Reason = fmt.Sprintf("panels of popular columns in shared memory would gain only %.1f %%", 100*(none.Seconds/best.Seconds-1))
	default:
		c.Prediction = best
		c.Reason = fmt.Sprintf("%d panels of %d popular columns in shared memory have %.1f non-zeros per active row: %.2g times as fast as from L2",
			best.Panels, best.Tile.Tj, perRow, none.Seconds/best.Seconds)
		if best.Tile.Dense > 0 {
			c.Reason += fmt.Sprintf("; %d are so dense that tensor cores make all of their products", best.Tile.Dense)
		}
	}
	return c
}

// seconds returns the time that units need for cycles of one of them.
func (g *GPU) seconds(cycles float64) float64 { return cycles / (float64(g.Units) * clock) }

// memory returns the cycles in which A and B come from memory.
func (t *SharedTask) memory() float64 {
	return float64(min(int64(t.Rows), t.NNZ)+min(int64(t.Cols), t.NNZ)) * float64(t.K*t.ElemBytes) / memoryRate
}

// gathering returns the seconds of gathering all rows of B.
func (g *GPU) gathering(t *SharedTask) float64 {
	return g.seconds(t.memory() + float64(g.Units*gatherLaunch) + t.gather(t.popular())*float64(t.NNZ))
}

// WantsCounts reports whether Choose looks at Counts.
func (g *GPU) WantsCounts(t SharedTask) bool {
	return g.withoutCounts(t) == ""
}

// withoutCounts says why Choose gathers whatever the counts are, if it does: where gathering, with the usual share of popular columns,
// takes no longer than panels would if none had rows of A to read, nor columns, and each unit had a single item; and where counting takes
// longer than it is worth. It does not look at Counts.
func (g *GPU) withoutCounts(t SharedTask) string {
	t.Counts = nil
	nnz, units, least := float64(t.NNZ), float64(g.Units), math.Inf(1)
	for _, depth := range SharedDepths(t.ElemBytes) {
		waits := units * (sharedLaunch + t.slicesOf(depth)*sharedItem)
		least = min(least, waits+nnz*min(t.panel(depth), t.restRows()))
	}
	if g.hasDense(t) { // every product of whose panels is that of a non-zero
		least = min(least, units*denseLaunch+nnz*(t.denseTile()/(DenseRows*DenseCols)+finishNonZero))
	}
	if least > sharedMargin*(nnz*t.gather(usualShare)+float64(g.Units*gatherLaunch)) {
		return "panels in shared memory would take longer to launch than they could gain"
	}
	if calls := t.counting() / g.gathering(&t); calls > countingCalls {
		return fmt.Sprintf("to look for panels of popular columns would take as long as %.0f calls", calls)
	}
	return ""
}

// counting returns the seconds of counting panels.
func (t *SharedTask) counting() float64 {
	return countLaunches + float64(t.NNZ)*countNonZero + float64(t.Cols)*countColumn
}

// slicesOf returns how many slices of depth elements K has.
func (t *SharedTask) slicesOf(depth int) float64 { return float64((t.K + depth - 1) / depth) }

// panel returns the cycles of a non-zero whose row of B is in shared memory, in slices of depth elements.
func (t *SharedTask) panel(depth int) float64 {
	slice := sharedSlice
	if t.ElemBytes < 4 {
		slice = shortSlice
	}
	return t.slicesOf(depth)*(float64(depth*t.ElemBytes)/bankRate+slice) + finishNonZero
}

// gather returns the cycles of a non-zero whose row of B comes from L2, or from L1 where it is one of the popular share.
func (t *SharedTask) gather(popular float64) float64 {
	slices := t.slices()
	return (float64(t.K*t.ElemBytes)*(1-popularHits*popular) + slices*indexBytes + (slices-1)*partBytes) / gatherRate
}

// popular returns the share of the non-zeros whose slices of rows of B would fill a panel, the usual one where nobody counted.
func (t *SharedTask) popular() float64 {
	n := slices.IndexFunc(SharedSlices, func(bytes int) bool { return bytes >= min(t.K*t.ElemBytes, gatherBytes) })
	if n >= len(t.Counts) || len(t.Counts[n]) == 0 {
		return usualShare
	}
	return float64(t.Counts[n][0].NNZ) / float64(max(t.NNZ, 1))
}

// slices returns the slices of K that are gathered.
func (t *SharedTask) slices() float64 {
	return max(t.slicesOf(gatherBytes/t.ElemBytes), 1)
}

// hasDense reports whether panels may be dense.
func (g *GPU) hasDense(t SharedTask) bool { return g.Dense && t.ElemBytes == 2 }

// denseTile returns the cycles of a tile of a dense panel, but for its non-zeros.
func (t *SharedTask) denseTile() float64 { return denseTile + denseSlice*t.slicesOf(denseDepth) }

// dense returns the cycles of a dense panel of cols columns with nnz non-zeros, in blocks of height rows.
func (t *SharedTask) dense(cols, height int, nnz int64) float64 {
	parts := float64((cols + DenseCols - 1) / DenseCols)
	high := t.Rows/height*((height+DenseRows-1)/DenseRows) + (t.Rows%height+DenseRows-1)/DenseRows
	return float64(high)*parts*t.denseTile() + float64(nnz)*(denseEntry+finishNonZero)
}

// shared returns the cycles, as Seconds, with slices of depth elements and as many panels as make it fastest, the first ones dense
// where that is faster, and the non-zeros in panels.
func (g *GPU) shared(t SharedTask, n, depth int) (best Prediction, inPanels int64) {
	width := g.SharedWidth(depth, t.ElemBytes)
	if width == 0 {
		return best, 0
	}
	tile := Tile{Ti: g.SharedHeight(t.K, t.ElemBytes), Tj: width, Tk: depth}
	blocks := (t.Rows + tile.Ti - 1) / tile.Ti
	item := func(cols int) float64 { // cycles, beside those of its non-zeros
		return t.slicesOf(depth) * (float64(cols*depth*t.ElemBytes)/streamRate + sharedItem)
	}
	units, nonZero := float64(g.Units), t.panel(depth)
	rest, entries, rows, items, segments, dense := t.NNZ, int64(0), 0.0, 0.0, 0.0, 0.0
	for q, panel := range t.Counts[n] {
		if panel.NNZ == 0 {
			break
		}
		cols := min(width, t.Cols-q*width)
		passing := panel.Active * float64(t.K*t.ElemBytes) / streamRate
		loading := (float64(blocks) + float64(panel.NNZ)/float64(tiling.ItemEntries(t.NNZ, g.Units))) * item(cols) // and, in the end, a few more
		rest -= panel.NNZ
		segments += panel.Active
		all := t.dense(cols, tile.Ti, panel.NNZ)
		if g.hasDense(t) && tile.Dense == q && all < passing+loading+float64(panel.NNZ)*nonZero {
			tile.Dense++
			dense += all
		} else {
			rows += passing
			items += loading
			entries += panel.NNZ
		}
		work := units*sharedLaunch + float64(entries)*nonZero + rows + dense
		switch {
		case entries == 0:
			work -= units * (sharedLaunch - denseLaunch)
		case tiling.OneShareEach(entries, g.Units):
			cells := blocks * (q + 1 - tile.Dense)
			work += float64(cells+g.Units) * item(min(width, t.Cols)) // a share ends in a cell, and the next begins there
		default: // in the end units wait for the last items, half of one on average
			work += items + units/2*(item(width)+float64(min(tiling.LeastItem, t.NNZ))*nonZero)
		}
		if tile.Dense > 0 {
			work += units * (denseLaunch + t.denseTile()/2)
		}
		if work += g.rest(&t, rest); best.Panels == 0 || work < best.Seconds {
			tile.Panels = q + 1
			best = Prediction{Tile: tile, Seconds: work, Panels: q + 1, Segments: segments}
			inPanels = t.NNZ - rest
		}
	}
	return best, inPanels
}

// rest returns the cycles of gathering the nnz non-zeros that are in no panel. What is left of a row is short, and so the row
// itself costs, too; where nothing is left, nothing is launched.
func (g *GPU) rest(t *SharedTask, nnz int64) float64 {
	if nnz <= 0 {
		return 0
	}
	return float64(g.Units*gatherLaunch) + float64(nnz)*t.restRows() + float64(t.Rows)*t.slices()*restRow
}

// restRows returns the cycles of a row of B of the rest.
func (t *SharedTask) restRows() float64 {
	return float64(t.K*t.ElemBytes)/gatherRate + (t.slices()-1)*gatherSlice
}
