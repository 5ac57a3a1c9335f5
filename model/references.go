package model

import (
	"math"
	"math/bits"

	"sddmmkit/internal/parallel"
)

// references says how far apart those references of a sequence lie that are to the same column: to any of them and, unless all regions of
// neighbouring columns have about as many, region by region.
//
// Of many columns only some are looked at, and each stands for as many; what the popular ones among them add too much or too little is
// taken from the shortest times, at which any cache holds a row (SHARDS with adjustment: Waldspurger et al., FAST 2015). Which they are
// depends on their numbers alone.
type references struct {
	region         // of all columns
	number int64   // of references
	each   float64 // columns that one looked at stands for

	regions []region // by increasing column, or nil
	width   int      // columns of a region; the last may have fewer
}

// region is what there is to know of the references to some neighbouring columns. Times count the others too.
type region struct {
	refs    float64 // references to its columns
	columns float64 // different ones

	// reuse counts references by the number of references since the one before to the same column; the first to each column is
	// in none of the bins. gaps has the same, and the stretches before the first and after the last reference.
	reuse, gaps histogram

	// From the end of gaps: number and total length of those in a bin and beyond.
	gapsFrom, gapLengthFrom []float64
	reuseUpTo               []float64 // number of references in bins before this one
	cutUpTo                 []float64 // and of those among them that each more of several equal parts of the sequence cuts off from the one before
}

// Bounds of what is looked at.
const (
	leastSlots  = 1 << 11 // of columns to look at
	mostSkipped = 3       // powers of two of columns that one stands for
	perSlot     = 4       // non-zeros of a chunk for each, for a table of them takes as long to make and to go through as some non-zeros
	stretch     = 1 << 11 // references that are sorted out at a time
	mostRegions = 32
)

// sample says which columns are looked at: those whose slot is below slots.
type sample struct{ factor, mask, slots uint32 }

// newSample returns the sample of so many columns.
func newSample(cols int) sample {
	width := bits.Len(uint(max(cols-1, 1)))
	skipped := max(min(width-bits.Len(leastSlots-1), mostSkipped), 0)
	return sample{factor: 0x9e3779b1, mask: uint32(1)<<width - 1, slots: uint32(1) << (width - skipped)}
}

// slot is a number for each column, with the sample in front. Neighbouring columns, and those with the same low bits, are far apart.
func (s sample) slot(column int32) uint32 { return uint32(column) * s.factor & s.mask }

// columns returns the column of each slot of the sample; some are beyond the last column.
func (s sample) columns() []uint32 {
	back := s.factor // Newton's iteration doubles the bits of the inverse that are right: 3, 6, 12, …
	for range 4 {
		back *= 2 - s.factor*back
	}
	all := make([]uint32, s.slots)
	for slot := range all {
		all[slot] = uint32(slot) * back & s.mask
	}
	return all
}

// each returns how many of cols columns one of the sample stands for, when those are its columns.
func each(columns []uint32, cols int) float64 {
	in := 0
	for _, j := range columns {
		if int64(j) < int64(cols) {
			in++
		}
	}
	return float64(cols) / float64(max(in, 1))
}

// regionOf returns the power of two of columns that a region of cols columns has.
func regionOf(cols int) int {
	return max(bits.Len(uint(max(cols-1, 1)))-bits.Len(mostRegions-1), bits.Len(minWidth-1))
}

// regionsOf returns how many regions cols columns have.
func regionsOf(cols int) int { return max(cols-1, 0)>>regionOf(cols) + 1 }

// stamp gives references, the first of which has the number from, their times: how many there were up to each. of are those that are to have
// theirs in now.
type stamp func(from int64, columns []int32, of []uint16, now *[stretch]uint32)

// seen is when the columns of a sample were seen first and last in a chunk; 0 is never. The first chunk counts its first
// references at once, and keeps only the last.
type seen struct{ first, last []uint32 }

// chunksOf returns how many chunks of so many references are looked at by themselves.
func (s sample) chunksOf(refs int64, threads int) int {
	return int(max(1, min(int64(parallel.Threads(threads)), refs/perSlot/int64(s.slots), 16)))
}

// draws counts one in several references by the class of its column, of mostClasses, and by its region.
type draws struct{ inClass, inRegion []int64 }

// add draws from references to cols columns, the first of which has the number from.
func (d draws) add(from int64, columns []int32, cols int) {
	region := regionOf(cols) & 31
	for z := -from & (drawn - 1); z < int64(len(columns)); z += drawn {
		j := columns[z]
		d.inClass[j&(mostClasses-1)]++
		d.inRegion[j>>region]++
	}
}

// newDraws returns draws from nothing yet, of cols columns.
func newDraws(cols int) draws {
	return draws{make([]int64, mostClasses), make([]int64, regionsOf(cols))}
}

// merge adds what another part has.
func (d draws) merge(o draws) {
	for k, n := range o.inClass {
		d.inClass[k] += n
	}
	for k, n := range o.inRegion {
		d.inRegion[k] += n
	}
}

// countReferences looks at references to cols columns, chunk by chunk; what crosses the border of chunks is added afterwards. Time is counted in
// steps of 2^shift references. from are draws from the same references in any order; without them it draws, while columns are in a cache, and
// returns them.
func (s sample) countReferences(columns []int32, cols, shift, threads int, times stamp, from draws) (*references, draws) {
	sampled, chunks := s.columns(), s.chunksOf(int64(len(columns)), threads)
	number := int64(len(columns))
	longest := number + 2<<shift // between two references, and before the first and after the last one
	r := &references{number: number, each: each(sampled, cols), width: 1 << regionOf(cols), regions: make([]region, regionsOf(cols))}
	table := make([]seen, chunks)
	again := make([][]histogram, chunks)
	var firsts []histogram // of the first chunk
	var drawnIn []draws    // by chunk, where it draws
	if from.inRegion == nil {
		drawnIn = make([]draws, chunks)
	}
	parallel.Ranges(chunks, number, func(c int, lo, hi int64) {
		var d draws
		if drawnIn != nil {
			d = newDraws(cols)
			drawnIn[c] = d
		}
		var before []histogram
		if c == 0 {
			firsts = newHistograms(len(r.regions), longest)
			before = firsts
		}
		again[c] = newHistograms(len(r.regions), longest)
		table[c] = s.lookAt(columns[lo:hi], cols, lo, times, again[c], before, d)
	})
	if drawnIn != nil {
		from = newDraws(cols)
		for _, d := range drawnIn {
			from.merge(d)
		}
	}
	for g := range r.regions {
		at := &r.regions[g]
		at.reuse, at.gaps = again[0][g], firsts[g]
		for _, more := range again[1:] {
			at.reuse.merge(more[g])
		}
	}
	end := uint32((r.number-1)>>shift) + 1
	for slot, column := range sampled {
		var at *region
		last := uint32(0)
		for c, t := range table {
			switch {
			case t.last[slot] == 0:
				continue
			case last != 0:
				at.reuse.add(uint64(t.first[slot] - last))
			default:
				at = &r.regions[column>>regionOf(cols)]
				if c > 0 {
					at.gaps.add(uint64(t.first[slot]))
				}
			}
			last = t.last[slot]
		}
		if last != 0 {
			at.gaps.add(uint64(end - last + 1))
			at.columns += r.each
		}
	}
	all := 0.0
	for _, n := range from.inRegion {
		all += float64(n)
	}
	r.region = region{refs: float64(r.number), reuse: newHistogram(longest), gaps: newHistogram(longest)}
	uneven := 0.0 // 1 where regions have references as they have columns
	for g, n := range from.inRegion {
		at := &r.regions[g]
		at.gaps.merge(at.reuse)
		at.reuse.scale(shift)
		at.gaps.scale(shift)
		share := float64(n) / math.Max(all, 1)
		at.refs = float64(r.number) * share
		uneven += share * (float64(n) - 1) / math.Max(all-1, 1) * float64(cols) / float64(min(r.width, cols-g*r.width))
		r.columns += at.columns
		r.reuse.merge(at.reuse)
		r.gaps.merge(at.gaps)
	}
	r.columns = math.Min(math.Max(math.Round(r.columns), 1), float64(min(int64(cols), r.number)))
	if uneven <= unequal {
		r.regions = nil
	}
	for g := range r.regions {
		r.regions[g].sumUp(r.each, r.number)
	}
	r.sumUp(r.each, r.number)
	return r, from
}

// lookAt counts the times between the references of a chunk in again, region by region, and adds to d, if that is there. Those before the first
// references it counts in firsts, or, where that is nil, keeps.
func (s sample) lookAt(columns []int32, cols int, from int64, times stamp, again, firsts []histogram, d draws) (t seen) {
	t.last = make([]uint32, s.slots)
	if firsts == nil {
		t.first = make([]uint32, s.slots)
	}
	factor, mask, slots := s.factor, s.mask, uint64(s.slots) // in registers
	shift := regionOf(cols) & 31
	var now [stretch]uint32
	var kept [stretch]uint16
	for len(columns) > 0 {
		some := columns[:min(stretch, len(columns))]
		n := 0
		for z, j := range some {
			kept[n&(stretch-1)] = uint16(z)
			n += int((uint64(uint32(j)*factor&mask) - slots) >> 63) // 1 if its slot is less
		}
		times(from, some, kept[:n], &now)
		if d.inRegion != nil {
			d.add(from, some, cols)
		}
		for _, z := range kept[:n] {
			slot, time := s.slot(some[z]), now[z&(stretch-1)]
			before := t.last[slot]
			t.last[slot] = time
			to := again
			if before == 0 {
				if firsts == nil {
					t.first[slot] = time
					continue
				}
				to = firsts
			}
			to[some[z]>>shift].add(uint64(time - before))
		}
		columns, from = columns[len(some):], from+int64(len(some))
	}
	return t
}

// sumUp fills in the running sums of the histograms, where one column of a sample stands for each. Of n references in p equal parts, two that lie t
// apart anywhere are in the same one with the probability (n − p·t) / (n − t) = 1 − (p − 1)·t / (n − t).
func (g *region) sumUp(each float64, number int64) {
	n := len(g.gaps)
	g.gapsFrom, g.gapLengthFrom, g.reuseUpTo = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for b := n - 1; b >= 0; b-- {
		g.gapsFrom[b] = g.gapsFrom[b+1] + each*float64(g.gaps[b].count)
		g.gapLengthFrom[b] = g.gapLengthFrom[b+1] + each*float64(g.gaps[b].sum)
	}
	for b := range n {
		g.reuseUpTo[b+1] = g.reuseUpTo[b] + each*float64(g.reuse[b].count)
	}
	missing := g.refs - g.columns - g.reuseUpTo[n]
	g.cutUpTo = make([]float64, n+1)
	for b, t := range g.reuse {
		g.reuseUpTo[b+1] = math.Max(g.reuseUpTo[b+1]+missing, 0)
		g.cutUpTo[b+1] = g.cutUpTo[b]
		if t.count > 0 {
			apart := float64(t.sum) / float64(t.count)
			g.cutUpTo[b+1] += each * float64(t.count) * apart / math.Max(float64(number)-apart, 1)
		}
	}
}

// footprint returns how many different columns a window of refs references has, on average over all
// windows of that length.
func (r *references) footprint(refs float64) float64 {
	if refs <= 0 {
		return 0
	}
	return math.Max(math.Min(r.region.footprint(refs, r.number), refs), math.Min(1, r.columns))
}

// footprint returns how many different columns of the region a window of refs of all number references has, on average over all windows of
// that length (Xiang et al., HOTL, ASPLOS 2013), with n and m the numbers of references and columns:
//
//	m − Σ_gaps longer than refs (gap − refs) / (n − refs + 1)
func (g *region) footprint(refs float64, number int64) float64 {
	n := float64(number)
	switch {
	case refs <= 0:
		return 0
	case g.gapsFrom[0] == 0: // not counted
		return math.Min(refs, g.columns)
	case refs >= n:
		return g.columns
	}
	b := bin(uint64(refs)) + 1
	missing := g.gapLengthFrom[b] - refs*g.gapsFrom[b]
	// The bin that refs lies in holds gaps on both sides of it.
	lo, hi := binStart(b-1), binStart(b)
	if in, sum := g.gapsFrom[b-1]-g.gapsFrom[b], g.gapLengthFrom[b-1]-g.gapLengthFrom[b]; in > 0 {
		longer := (hi - refs) / (hi - lo)
		missing += math.Max(sum*longer-refs*in*longer, 0)
	}
	return math.Max(math.Min(g.columns-missing/(n-refs+1), g.columns), 0)
}

// reused returns how many of its references come at most refs of all number references after the one before to the same column, and in the same
// of so many equal parts of the sequence.
func (g *region) reused(refs float64, number int64, parts int) float64 {
	if parts == 1 && refs >= float64(number) {
		return g.reuseUpTo[len(g.reuseUpTo)-1]
	}
	refs = math.Min(refs, float64(number)/float64(parts))
	if refs < 1 {
		return 0
	}
	b := bin(uint64(refs))
	lo, hi := binStart(b), binStart(b+1)
	in := math.Min((refs-lo+1)/(hi-lo), 1)
	upTo := func(sum []float64) float64 { return sum[b] + (sum[b+1]-sum[b])*in }
	return math.Max(upTo(g.reuseUpTo)-float64(parts-1)*upTo(g.cutUpTo), 0)
}
