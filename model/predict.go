package model

import (
	"math"

	"sddmmkit/device"
)

// Tile is a cut of the work into pieces that stay in a cache, as the paper names its sides. 0 means that a
// dimension is not cut.
type Tile struct {
	Ti int // rows; the CPU paths do not cut them
	Tj int // columns of a panel
	Tk int // slice of K

	// Panels is how many panels of popular columns a GPU keeps in shared memory, one after the other; other columns are
	// gathered. 0 on a GPU means as many as are useful. CPUs cut all columns into panels, and it is 0 there.
	Panels int

	// Dense is how many of the panels, the first ones, are dense tiles: all of their products are made on tensor cores, and those of
	// non-zeros picked. Only for A and B of 16 bits.
	Dense int
}

// Prediction is what a tile costs.
type Prediction struct {
	Tile     Tile
	Seconds  float64
	Levels   []LevelBytes // from the nearest to the farthest
	Panels   int
	Making   float64 // what the panels take to make, once, in times of NewProfile on the same pattern
	Segments float64 // rows of A or C that are touched, over all panels
}

// LevelBytes is how much is read from and written to a level.
type LevelBytes struct {
	Name  string
	Bytes float64
}

// work is one prediction in the making.
type work struct {
	*Machine
	op     Op
	f      *Profile
	row    float64 // bytes of a row of B, A or C within a slice, without a last element apart
	elem   float64
	panels float64 // a fraction where the last is narrower: most of the work is in full ones
	slices float64
	listed bool    // segments are: those of panels, and be it one of all columns
	own    bool    // threads copy slices of B panel by panel, each for itself, see OwnCopies
	packed bool    // slices of rows of A or C follow each other, see Packs
	last   bool    // the last column is apart, see LastApart
	segs   float64 // segments of one slice, over all panels

	near  int     // the level that has rows of A or C from a panel before
	again float64 // share of segments whose row it has

	thread  float64   // seconds, all threads together
	gathers float64   // those of reads of rows of B
	private float64   // and of these the ones from caches of one thread
	bytes   []float64 // by level
}

// Predict returns the time and the traffic of one call with a tile that Choose could return: in a steady
// state, where the call before left in the caches what they hold.
func (m *Machine) Predict(op Op, f *Profile, k, elemBytes int, tile Tile) Prediction {
	w := newWork(m, op, f, k, elemBytes, tile)
	w.readB()
	w.rows()
	w.streams()
	w.copies()
	w.packing()
	w.lastColumn()
	c := m.costs(op)
	lines := w.row / float64(m.Line)
	w.thread += w.slices * w.segs * (c.Segment + lines*c.SegmentLine)
	if tile.Tj == 0 {
		w.thread += w.slices * float64(f.Rows-int(f.ActiveRows)) * c.EmptyRow
	}
	p := Prediction{Tile: tile, Panels: int(math.Ceil(w.panels)), Segments: w.segs, Seconds: w.thread / float64(m.Threads)}
	passes := float64(p.Panels) * w.slices
	if w.copied() && !w.own {
		passes += w.slices
	}
	if w.packed {
		passes += w.slices
	}
	if w.last && w.listed && !w.fused() {
		passes++
	}
	if passes > 1 {
		p.Seconds += passes * c.Pass
	}
	if tile.Tj > 0 {
		p.Making = makePanels + makeSegment*w.segs/math.Max(float64(f.NNZ), 1)
	}
	for i, l := range m.Measured.Levels {
		p.Levels = append(p.Levels, LevelBytes{l.Name, w.bytes[i]})
	}
	return p
}

func newWork(m *Machine, op Op, f *Profile, k, elemBytes int, tile Tile) *work {
	w := &work{Machine: m, op: op, f: f, elem: float64(elemBytes), panels: 1, slices: 1, segs: float64(f.ActiveRows),
		bytes: make([]float64, len(m.Measured.Levels))}
	depth := k
	if w.last = LastApart(op, f.NNZ, f.Cols, k, elemBytes); w.last {
		depth--
	}
	if tile.Tk > 0 && tile.Tk < k {
		depth = tile.Tk
		w.slices = slicesOf(k, depth)
	}
	w.listed = tile.Tj > 0
	if tile.Tj > 0 && tile.Tj < f.Cols {
		w.panels = float64(f.Cols) / float64(tile.Tj)
		w.segs = f.segments(float64(tile.Tj))
	}
	w.row = w.lined(float64(depth) * w.elem)
	w.own = w.listed && w.slices > 1 && m.firstShared() > 0 && OwnCopies(f.NNZ, f.Cols, min(tile.Tj, f.Cols), int(w.row), m.Threads, m.NearBytes, f.InPieces)
	w.packed = w.listed && w.slices > 1 && Packs(int64(w.segs), f.Rows)
	w.near = m.firstShared()
	w.again = w.againIn(between * w.capacity(w.near))
	return w
}

// lined returns how many bytes of cache lines a row of a matrix touches, on average over the places where
// rows begin: multiples of the greatest common divisor of the lengths of row and line.
func (w *work) lined(bytes float64) float64 {
	if bytes <= 0 {
		return 0
	}
	a, b := int64(bytes), int64(w.Line)
	for b != 0 {
		a, b = b, a%b
	}
	return bytes + float64(w.Line) - float64(a)
}

// perSegment is the traffic that comes with a segment: its row of A or C.
func (w *work) perSegment() float64 { return w.row }

// perNonZero is the traffic that comes with a non-zero beside its row of B: column, value, result.
func (w *work) perNonZero() float64 {
	switch w.op {
	case SpMM:
		return 4 + w.elem
	case SpMMT:
		return 4 + 8 + float64(w.Line)
	}
	return 4 + 2*w.elem
}

// partLine is what values of a segment touch of lines of an array beside themselves, on average over the places where they begin.
func (w *work) partLine() float64 { return float64(w.Line) - w.elem }

// partLines is partLine for all arrays of values, without panels nothing: there the next row goes on in the line.
func (w *work) partLines() float64 {
	switch {
	case !w.listed || w.op == SpMMT: // whose values are a line each
		return 0
	case w.op == SDDMM:
		return 2 * w.partLine() // of S and P
	}
	return w.partLine()
}

// panel is a part of the references that has a cache for itself: those to columns of a panel.
type panel struct {
	regions []region // of which the panel is
	part    float64  // of each, all of it or one of so many equal ones
	number  int64    // of references in the whole sequence
	refs    float64  // to its own columns
	most    float64  // of these in the cache
}

// panelsOf calls do for each panel of some references, or for one of several equal ones. of is the share of its columns that the cache is for.
func (w *work) panelsOf(r *references, of float64, do func(*panel)) {
	panelOf := func(regions []region, part float64) {
		p := &panel{regions: regions, part: part, number: max(r.number, 1)}
		for g := range regions {
			p.refs += regions[g].refs * part
			p.most += regions[g].columns * part * of
		}
		do(p)
	}
	if r.regions == nil || w.panels == 1 {
		panelOf([]region{r.region}, 1/w.panels)
		return
	}
	cols, width := float64(w.f.Cols), float64(r.width)
	tile := cols / w.panels
	at := func(g int) int { return int((float64(g) + 0.5) * width / tile) } // the panel with the middle of a region
	for g, next := 0, 0; g < len(r.regions); g = next {
		for next = g + 1; next < len(r.regions) && at(next) == at(g); {
			next++
		}
		panelOf(r.regions[g:next], min(tile/min(width, cols-float64(g)*width), 1))
	}
}

// window returns how many bytes pass through a panel in a stretch of the sequence: while it is refs references long, the panel has its share of
// them. A region is taken to have as many of everything in each of its panels.
func (w *work) window(p *panel, refs float64) float64 {
	rows := 0.0
	for g := range p.regions {
		rows += p.regions[g].footprint(refs, p.number)
	}
	own := refs * p.refs / float64(p.number)
	rows = min(rows*p.part, p.most, own)
	segments := own * w.segs / float64(p.number)
	return rows*w.row + (1+w.Beside)*(segments*(w.perSegment()+w.partLines())+own*w.perNonZero())
}

// call returns how many bytes a whole call touches.
func (w *work) call() float64 {
	return float64(w.f.ActiveCols)*w.row*w.slices + float64(w.f.ActiveRows)*w.perSegment()*w.slices + float64(w.f.NNZ)*w.perNonZero()
}

// capacity returns what a level holds for a thread; memory holds everything.
func (w *work) capacity(l int) float64 {
	if bytes := w.Measured.Levels[l].Bytes; bytes > 0 {
		return float64(bytes)
	}
	return math.Inf(1)
}

// holding returns the first level that holds bytes bytes which are read again only after all of them were.
// The threads share out such data: private caches hold a part of it each.
func (w *work) holding(bytes float64) int {
	for l := range w.Measured.Levels {
		c := w.capacity(l)
		if !w.Measured.Levels[l].Shared {
			c *= float64(w.Threads)
		}
		if bytes <= c {
			return l
		}
	}
	return w.memory()
}

// privateBytes returns what the last caches of single threads hold, all together.
func (w *work) privateBytes() (bytes float64) {
	if l := w.firstShared(); l > 0 {
		bytes = w.capacity(l-1) * float64(w.Threads)
	}
	return bytes
}

// held calls do for the levels that hold bytes bytes which are read again only after all of them were, with the share that each has. A shared
// cache still has some of more than it holds.
func (w *work) held(bytes float64, do func(l int, share float64)) {
	l := w.holding(bytes)
	share := 0.0
	if l > 0 && w.Measured.Levels[l-1].Shared && w.AtRandom {
		share = survive(bytes / w.capacity(l-1))
		do(l-1, share)
	}
	do(l, 1-share)
}

// survive returns the share of data, times ≥ 1 as much as a cache holds, that it still has when all of them are read again and again and lines are
// replaced at random: a line is there if none of the misses of a round took its place, which are (1 − share)·times for each place.
//
//	share = e^(−(1 − share)·times)
func survive(times float64) float64 {
	share := 0.0
	for range 32 { // Newton's method, from below
		there := math.Exp(-(1 - share) * times)
		slope := 1 - there*times
		if slope <= 0 || there-share < 1e-4*slope {
			break
		}
		share += (there - share) / slope
	}
	return math.Min(share, 1)
}

// reach returns the longest stretch of the sequence of which c bytes of a cache hold what passes through a panel: its
// characteristic time (Che's approximation, with the measured footprint in the place of independent
// references). A row of B that was read within it is still there.
func (w *work) reach(p *panel, c float64) float64 {
	lo, hi := 0.0, float64(p.number)
	if w.window(p, hi) <= c {
		return hi
	}
	for hi-lo > math.Max(lo, 1)/256 {
		mid := (lo + hi) / 2
		if hi > 8*lo+1 { // far apart: in logarithms
			mid = math.Sqrt(math.Max(lo, 0.125) * hi)
		}
		if w.window(p, mid) <= c {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// hits returns how many reads of rows of B find them in a level, or nearer, and how many of these are beside reads that do not: in each panel the
// share of those that come again. Each thread has a part of the rows of a panel, and what it brought to its private caches others do not find
// there. Where address bits pick the sets of a cache, each class of columns has its share of it for itself, unless there are but few classes or a whole
// panel fits, whose rows fill all sets alike; and threads are taken for one: where classes have uneven parts, popular columns are read many times by all.
func (w *work) hits(l int) (hits, beside float64) {
	r, c, of, parts := w.f.all, w.capacity(l), 1.0, 1
	level := w.Measured.Levels[l]
	fits := float64(w.f.Cols)/w.panels*w.row <= c
	if n := classesOf(w.row, level.SetBytes); n > 0 && w.f.classes != nil && !fits {
		r, c, of = w.f.classes.of(n, w.Threads), c/float64(n), 1/float64(n)
	} else if !level.Shared && !w.own { // a copy of its own has all rows
		parts = w.Threads
	}
	w.panelsOf(r, of, func(p *panel) {
		within, again, found := w.reach(p, c), 0.0, 0.0
		for g := range p.regions {
			again += p.regions[g].refs - p.regions[g].columns
			found += p.regions[g].reused(within, p.number, parts)
		}
		hits += found
		beside += found * (1 - min(found/math.Max(again, 1), 1))
	})
	return hits, beside
}

// readB adds the reads of rows of B.
func (w *work) readB() {
	reused := float64(w.f.NNZ - w.f.ActiveCols)
	before, near, beside := 0.0, 0.0, 0.0
	last := w.memory()
	for l := range w.Measured.Levels {
		hits := reused
		if l < last {
			found, mixed := w.hits(l)
			hits = math.Max(math.Min(found, reused), before)
			if !w.Measured.Levels[l].Shared {
				near, beside = hits, math.Min(mixed, hits)
			}
		}
		w.gather(l, (hits-before)*w.slices)
		before = hits
	}
	w.mix(near, reused-near, beside)
	if w.own { // the copy has just been made
		w.gather(w.firstShared()-1, float64(w.f.ActiveCols)*w.slices)
		return
	}
	// The first read of each row in a call finds what the call before left, or the copy.
	left := w.call()
	if w.copied() {
		left = w.copying()
	}
	w.held(left, func(l int, share float64) { w.gather(l, share*float64(w.f.ActiveCols)*w.slices) })
}

// mix adds what it takes that beside of the near reads, of rows in private caches, come between far ones, of rows beyond them. So far it has the
// time of both as if one kind came after the other.
func (w *work) mix(near, far, beside float64) {
	if near <= 0 || far <= 0 {
		return
	}
	longer := math.Max((w.gathers-w.private)/far-w.private/near, 0) // by so many seconds than a near read, in all slices together
	w.thread += device.Mixing * beside * longer
	w.gathers += device.Mixing * beside * longer
}

// blocksApart reports whether each block of a row that SpMM gathers counts for itself, for it is as far from the others as if they were of other
// rows: those of short vectors, but for the second of two, which the caches' prefetchers bring with the first. Those of rows of more than longBlock
// are done together, so that caches that threads share deliver them as one.
func (w *work) blocksApart(l int) bool {
	return w.shortVectors() && w.row > 2*float64(w.Block) && (w.row <= longBlock || !w.Measured.Levels[l].Shared)
}

func (w *work) gather(l int, rows float64) {
	seconds := w.Measured.GatherSeconds(l, w.row, w.Threads)
	if w.op != SDDMM && w.row > SliceBytes {
		// Rates are those of the loop of SDDMM, which adds up its lanes for each slice of a row. That of SpMM does not.
		seconds = math.Min(seconds, w.row/SliceBytes*w.Measured.GatherSeconds(l, SliceBytes, w.Threads))
	}
	if block := float64(w.Block); w.op != SDDMM && w.blocksApart(l) {
		seconds = math.Max(seconds, w.row/block*w.Measured.GatherSeconds(l, block, w.Threads))
	}
	if w.isNear() {
		seconds *= w.nearer(l)
	}
	if w.Measured.Levels[l].Shared && l < w.memory() { // nothing fills memory
		panel := float64(w.f.ActiveCols) / w.panels * w.row
		short := fullShort + (1-fullShort)*min(w.row/SliceBytes, 1)
		seconds *= (1 + w.Full*short*math.Min(panel/w.capacity(l), 1)) * (1 + w.scattered(panel)) * (1 + larger*octaves(panel, fitBytes, wideBytes))
	}
	if w.op == SDDMM && w.Measured.Levels[l].Shared && w.panels == 1 && w.slices == 1 {
		seconds *= 1 - longWhole*min(max((w.row-SliceBytes)/(longRow-SliceBytes), 0), 1)
	}
	w.thread += rows * seconds
	w.gathers += rows * seconds
	if !w.Measured.Levels[l].Shared {
		w.private += rows * seconds
	}
	w.bytes[l] += rows * w.row
}

// isNear reports whether loops with long vectors leave most of a row of B to the hardware's prefetchers, as the loop that rates are of does not.
func (w *work) isNear() bool {
	panel := int(math.Ceil(float64(w.f.Cols) / w.panels))
	return w.row > nearLeast && w.longVectors() && Near(w.op, w.f.NNZ, w.f.Cols, panel, int(w.row), w.NearBytes, w.NearShared)
}

// nearer is how many times as long a near row takes from a level.
func (w *work) nearer(l int) float64 {
	switch {
	case w.Measured.Levels[l].Shared:
		if w.op == SDDMM || l == w.memory() {
			return 1
		}
		blocks := min(max(w.row/longBlock, 1), 4)
		return 1 - nearBlock*(blocks-1)
	case w.op == SDDMM:
		return nearSDDMM
	case w.row > SliceBytes && w.row <= longBlock:
		return nearOneBlock
	}
	return nearSpMM
}

// scattered is by how much longer a short row takes from a shared cache where those of a panel, so many bytes, lie far apart.
func (w *work) scattered(panel float64) float64 {
	short := (SliceBytes - w.row) / (SliceBytes - shortRow)
	return scattered * min(max(short, 0), 1) * octaves(panel, fewBytes, manyBytes)
}

// octaves is how far bytes are from one size to another in doublings: from 0 to 1.
func octaves(bytes, from, to float64) float64 {
	return min(max(math.Log2(bytes/from)/math.Log2(to/from), 0), 1)
}

// rows adds the rows of A, read once for each segment, or those of C, also written, and the wait before each. Rows that do not
// follow the one before, as those of a slice do only where they are packed, are not fetched ahead as a stream is: they are gathered. But of memory
// slices of rows that follow each other take what streams take; those of SDDMM where they are longer than SliceBytes.
func (w *work) rows() {
	times, memory := w.segs*w.slices, w.memory()
	next := w.f.next(float64(w.f.Cols) / w.panels) // share of the rows that follow the one before
	sliced := 0.0                                  // share that are slices of such rows
	if w.strided() {
		next, sliced = 0, next
	}
	w.held(w.betweenRows(), func(l int, share float64) {
		w.thread += share * times * waits * w.Measured.GatherSeconds(l, float64(w.Line), w.Threads)
		apart := share * times * (1 - next) * (1 - w.again)
		if l == memory && (w.op != SDDMM || w.row > SliceBytes) {
			bytes := apart * sliced * w.row
			w.streamAt(l, bytes)
			apart *= 1 - sliced
		}
		w.fetch(l, apart, w.row)
	})
	w.fetch(w.near, times*(1-next)*w.again, w.row)
	streamed := times * next * w.row
	if w.op != SDDMM {
		streamed += times * w.row // all are written back
	}
	w.held(w.betweenRows(), func(l int, share float64) { w.streamAt(l, share*streamed*(1-w.again)) })
	w.streamAt(w.near, streamed*w.again)
}

// strided reports whether rows of A or C are slices that lie a row apart.
func (w *work) strided() bool { return w.slices > 1 && !w.packed }

// betweenRows returns how many bytes pass through a cache before rows of A or C that it no longer had from a panel before come again: the whole
// call, or where they are packed those of a slice and of its copy.
func (w *work) betweenRows() float64 {
	if w.packed {
		return 2 * float64(w.f.Rows) * w.row
	}
	return w.call()
}

// packing adds the copies of slices of A or C, whose lines change hands as those of copies of B do: a thread copies other rows than those of its segments.
func (w *work) packing() {
	if !w.packed {
		return
	}
	bytes := float64(w.f.Rows) * w.slices * w.row
	w.held(w.call(), func(l int, share float64) {
		if w.op == SDDMM {
			w.fetch(l, share*float64(w.f.Rows)*w.slices, w.row)
			return
		}
		w.thread += 2 * w.Measured.StreamSeconds(l, share*bytes, w.Threads) // fetched, and written back
		w.bytes[l] += 2 * share * bytes
	})
	w.changeHands(float64(w.f.Rows) * w.row)
	times := 1.0
	if w.op == SDDMM { // there the copy is what is written
		times = 2
	}
	w.held(w.betweenRows(), func(l int, share float64) {
		w.thread += times * w.Measured.StreamSeconds(l, share*bytes, w.Threads)
		w.bytes[l] += times * share * bytes
	})
}

// memory returns the farthest level, which holds everything.
func (m *Machine) memory() int { return len(m.Measured.Levels) - 1 }

// firstShared returns the first level that threads share: too much passes through private ones between two panels.
func (m *Machine) firstShared() (level int) {
	for level < m.memory() && !m.Measured.Levels[level].Shared {
		level++
	}
	return level
}

// againIn returns the share of segments whose row of A or C a cache of c bytes still has from a panel before: of the rows that a panel reads,
// those that the panels before it, as many as the cache holds, read too, and some of those that only the one before these read.
func (w *work) againIn(c float64) float64 {
	if w.panels == 1 {
		return 0
	}
	row := w.perSegment()
	if w.strided() {
		row *= 1 + w.Beside
	}
	reads, found := 0.0, 0.0
	w.panelsOf(w.f.all, 1, func(p *panel) {
		rows := func(panels float64) float64 { return w.f.activeRows(p.refs * panels) } // that as many panels like this one read
		touched := func(panels float64) float64 {
			// Rows of B of one more, for between two reads of a row of A there is the rest of one panel and the beginning of another.
			return (panels+1)*p.most*w.row + rows(panels)*row + panels*p.refs*w.perNonZero()
		}
		held, more := 0.0, 1.0 // panels whose all it holds, and too many of them
		for more < w.panels && touched(more) <= c {
			held, more = more, 2*more
		}
		for more > held+1 {
			if mid := math.Floor((held + more) / 2); touched(mid) <= c {
				held = mid
			} else {
				more = mid
			}
		}
		reads += rows(1) / p.part
		known := func(before float64) float64 { return rows(1) + rows(before) - rows(before+1) } // that as many panels before it read
		share := known(held)
		if held+1 < w.panels && w.AtRandom {
			share += survive(touched(held+1)/c) * (known(held+1) - share)
		}
		found += share / p.part
	})
	return math.Max(math.Min(found/math.Max(reads, 1), 1-w.first()), 0)
}

// first is the share of segments that are the first of their row.
func (w *work) first() float64 { return math.Min(float64(w.f.ActiveRows)/math.Max(w.segs, 1), 1) }

// fetch adds pieces of so many bytes that lie apart in a level.
func (w *work) fetch(l int, pieces, bytes float64) {
	w.thread += pieces * w.Measured.GatherSeconds(l, bytes, w.Threads)
	w.bytes[l] += pieces * bytes
}

// stream adds bytes that are read or written in order of address. All that a call touches passes before
// they come again.
func (w *work) stream(bytes float64) {
	w.held(w.call(), func(l int, share float64) { w.streamAt(l, share*bytes) })
}

// streamAt adds bytes that are read from or written to a level in order of address.
func (w *work) streamAt(l int, bytes float64) {
	w.thread += w.seen(l) * w.Measured.StreamSeconds(l, bytes, w.Threads)
	w.bytes[l] += bytes
}

// seen is the share of the time of streams from a level that is not hidden behind gathers.
func (w *work) seen(l int) float64 {
	switch {
	case w.strided() && w.op == SpMM && l == w.memory():
		return overlap // most are slices of rows of C
	case w.strided():
		return 1 // sums of a slice of SDDMM are read by the next one, and written again; from a cache slices of rows of C take all their time
	}
	longer := max(w.row/SliceBytes-1, 0)
	share := min(overlap+overlapLonger*longer, 1)
	if w.op == SDDMM {
		share = max(overlap-hiddenLonger*longer, overlapLeast)
	}
	if w.panels == 1 { // without panels, or in one that lists active rows
		share *= overlapInOrder
	}
	return share
}

// streams adds the column indices and values of S and P. Column indices stand in the order of the
// segments. Of an array of values a segment touches whole lines, and the next panel touches some of them
// again; those of a segment that is not all of a row lie apart.
func (w *work) streams() {
	nnz, line := float64(w.f.NNZ), float64(w.Line)
	w.stream(nnz * 4 * w.slices)
	if w.listed {
		const segment = 16 // bytes of a tiling.Segment
		w.stream(w.segs * segment * w.slices)
	}
	first := w.first()
	values := func(times float64) {
		all := math.Ceil(nnz * w.elem / line)
		if all == 0 {
			return
		}
		perSegment := (nnz/w.segs*w.elem + w.partLine()) / line
		touched := math.Min(all*w.panels, w.segs*perSegment) // lines, over all panels
		bytes := touched * w.slices * times * line
		w.stream(bytes * first)
		if first == 1 {
			return
		}
		// Of the others, a line that the segment before has touched too is where the row of A is.
		known := math.Min((1-all/touched)/(1-first), 1) * math.Min(w.again/(1-first), 1)
		w.held(w.call(), func(l int, share float64) { w.valuesApart(l, share*bytes*(1-first)*(1-known)) })
		w.valuesApart(w.near, bytes*(1-first)*known)
	}
	switch w.op {
	case SDDMM:
		values(3) // S is fetched; P is fetched, and written back
	case SpMM:
		values(1)
	case SpMMT:
		w.stream(nnz * 8 * w.slices)
		s := w.holding(nnz * w.elem)
		w.thread += w.slices * nnz * w.Measured.SpreadSeconds(s, line, nnz*w.elem, w.Threads)
		w.bytes[s] += w.slices * nnz * line
	}
}

// valuesApart adds bytes of values in pieces that do not follow each other: too short for the hardware to find one before it ends, so that each
// line takes as long as one alone.
func (w *work) valuesApart(l int, bytes float64) {
	line := float64(w.Line)
	share := w.private / math.Max(w.gathers, math.SmallestNonzeroFloat64) // of the time of rows of B
	w.thread += bytes / line * (apart - apartPrivate*share) * w.Measured.GatherSeconds(l, line, w.Threads)
	w.bytes[l] += bytes
}

// copied reports whether rows of B are copied first: in slices, or without their last element.
func (w *work) copied() bool { return w.slices > 1 || w.last }

// copying returns how many bytes pass through a cache while a slice of all rows of B is copied: it, and the copy.
func (w *work) copying() float64 { return 2 * float64(w.f.Cols) * w.row }

// lastColumn adds a column apart. A pass of its own follows the others unit by unit, so that what streams is still in a
// cache near the core, unless those are in panels.
func (w *work) lastColumn() {
	if !w.last {
		return
	}
	nnz := float64(w.f.NNZ)
	if w.fused() {
		w.thread += nnz * (lastFused + lastMissed*w.lastMisses()*w.Measured.GatherSeconds(min(1, w.memory()), float64(w.Line), w.Threads))
		return
	}
	w.thread += nnz * lastNonZero
	if w.listed {
		w.stream(nnz * w.perNonZero())
	}
}

// lastMisses returns the share of elements of a column apart that the nearest cache no longer has, where rows of a panel come in any order: between
// two reads of a line of such elements as many bytes pass as come with all of its lines on average, and with probability exp(−x) more than x times as many.
func (w *work) lastMisses() float64 {
	lines := float64(w.f.ActiveCols) / w.panels * w.elem / float64(w.Line)
	return math.Exp(-float64(w.Measured.Levels[0].Bytes) / (lines * (w.row + float64(w.Line) + w.perNonZero())))
}

// fused reports whether the inner loop does a column apart with the others: that of SpMM for long vectors.
func (w *work) fused() bool { return w.op == SpMM && w.longVectors() }

// copies adds the copies of rows of B, of which slices lie apart where they come from. What they are copied to stays in the cache that holds
// it, or is written back.
func (w *work) copies() {
	if !w.copied() {
		return
	}
	rows := float64(w.f.Cols) * w.slices
	w.held(w.call(), func(from int, share float64) {
		w.fetch(from, share*rows, w.row)
		if w.slices > 1 && from == w.memory() {
			w.thread += share * rows * copyLonger * w.Measured.GatherSeconds(from, w.row, w.Threads)
		}
	})
	if w.own { // each of the others reads what the first brought near, and all write to their own caches
		others, private := rows*float64(w.Threads-1), w.firstShared()-1
		w.fetch(w.firstShared(), others, w.row)
		w.thread += (rows + others) * w.row / float64(w.Line) * ownLine
		w.thread += w.Measured.StreamSeconds(private, (rows+others)*w.row, w.Threads)
		w.bytes[private] += (rows + others) * w.row
		return
	}
	to := w.holding(w.copying())
	w.thread += rows * 2 * w.Measured.StreamSeconds(to, w.row, w.Threads) // fetched, and written back
	w.bytes[to] += rows * 2 * w.row
	w.changeHands(float64(w.f.Cols) * w.row)
}

// changeHands adds that lines of copies change hands, of so many bytes in each slice: what threads last read of a copy they have in their caches when one of
// them writes the next one there, and then that one has it.
func (w *work) changeHands(bytes float64) {
	if w.Threads > 1 {
		w.thread += w.slices * min(bytes, w.privateBytes()) / float64(w.Line) * 2 * handOver
	}
}
