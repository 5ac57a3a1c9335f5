package model

import (
	"math"
	"math/bits"

	"sddmmkit/internal/parallel"
)

// references says how far apart those references of a sequence lie that are to the same column.
//
// Of many columns only some are looked at, and each stands for as many; what the popular ones among them add too much or too little is
// taken from the shortest times, at which any cache holds a row (SHARDS with adjustment: Waldspurger et al., FAST 2015). Which they are
// depends on their numbers alone.
type references struct {
	number  int64   // of references
	columns int64   // different ones
	each    float64 // columns that one looked at stands for

	// reuse counts references by the number of references since the one before to the same column; the first to each column is
	// in none of the bins. gaps has the same, and the stretches before the first and after the last reference.
	reuse, gaps histogram

	// From the end of gaps: number and total length of those in a bin and beyond.
	gapsFrom, gapLengthFrom []float64
	reuseUpTo               []float64 // number of references in bins before this one
}

// Bounds of what is looked at.
const (
	leastSlots  = 1 << 11 // of columns to look at
	mostSkipped = 3       // powers of two of columns that one stands for
	perSlot     = 4       // non-zeros of a chunk for each, for a table of them takes as long to make and to go through as some non-zeros
	stretch     = 1 << 11 // references that are sorted out at a time
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

// each returns how many of cols columns one of the sample stands for.
func (s sample) each(cols int) float64 {
	if s.slots == s.mask+1 {
		return 1
	}
	back, in := s.factor, 0 // Newton's iteration doubles the bits of the inverse that are right: 3, 6, 12, …
	for range 4 {
		back *= 2 - s.factor*back
	}
	for slot := range s.slots {
		if int64(slot*back&s.mask) < int64(cols) {
			in++
		}
	}
	return float64(cols) / float64(max(in, 1))
}

// stamp gives references of a chunk their times: how many there were up to each. It gets all from the one numbered from on, in order, and which
// of them are to have theirs in now.
type stamp func(from int64, columns []int32, of []uint16, now *[stretch]uint32)

// seen is when the columns of a sample were seen first and last in a chunk; 0 is never. The first chunk counts its first
// references at once, and keeps only the last.
type seen struct{ first, last []uint32 }

// chunksOf returns how many chunks of so many references are looked at by themselves.
func (s sample) chunksOf(refs int64, threads int) int {
	return int(max(1, min(int64(parallel.Threads(threads)), refs/perSlot/int64(s.slots), 16)))
}

// countReferences looks at references to cols columns, chunk by chunk. The stamps of a chunk go on where those of the one before ended; time
// is counted in steps of 2^shift references. What crosses the border of chunks is added afterwards.
func (s sample) countReferences(columns []int32, cols, chunks, shift int, stamps []stamp) *references {
	r := &references{number: int64(len(columns)), each: s.each(cols), reuse: newHistogram(), gaps: newHistogram()}
	table := make([]seen, chunks)
	again, firsts := make([]histogram, chunks), make([]histogram, chunks)
	parallel.Ranges(chunks, r.number, func(c int, lo, hi int64) {
		table[c], again[c], firsts[c] = s.lookAt(columns[lo:hi], lo, stamps[c], c == 0)
	})
	for c := range again {
		r.reuse.merge(again[c])
		r.gaps.merge(firsts[c])
	}
	end := uint32((r.number-1)>>shift) + 1
	active := 0
	for slot := range s.slots {
		last := uint32(0)
		for c, t := range table {
			switch {
			case t.last[slot] == 0:
				continue
			case last != 0:
				r.reuse.add(uint64(t.first[slot] - last))
			case c > 0:
				r.gaps.add(uint64(t.first[slot]))
			}
			last = t.last[slot]
		}
		if last != 0 {
			r.gaps.add(uint64(end - last + 1))
			active++
		}
	}
	r.gaps.merge(r.reuse)
	r.reuse.scale(shift)
	r.gaps.scale(shift)
	r.columns = min(max(int64(math.Round(float64(active)*r.each)), 1), int64(cols), r.number)
	r.sumUp()
	return r
}

// lookAt counts the times between the references of a chunk, and in the first chunk also those before the first ones.
func (s sample) lookAt(columns []int32, from int64, times stamp, first bool) (t seen, again, firsts histogram) {
	t.last = make([]uint32, s.slots)
	if !first {
		t.first = make([]uint32, s.slots)
	}
	factor, mask, slots := s.factor, s.mask, uint64(s.slots) // in registers
	both := make(histogram, 2*bins)                          // without a branch that is hard to predict
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
		for _, z := range kept[:n] {
			slot, time := s.slot(some[z]), now[z&(stretch-1)]
			before := t.last[slot]
			t.last[slot] = time
			bin := bin(uint64(time - before))
			if before == 0 {
				bin += bins
				if !first {
					t.first[slot] = time
				}
			}
			tally := &both[bin]
			tally.count++
			tally.sum += int64(time - before)
		}
		columns, from = columns[len(some):], from+int64(len(some))
	}
	if again = both[:bins]; first {
		firsts = both[bins:]
	}
	return t, again, firsts
}

// sumUp fills in the running sums of the histograms.
func (r *references) sumUp() {
	n := len(r.gaps)
	r.gapsFrom, r.gapLengthFrom, r.reuseUpTo = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for b := n - 1; b >= 0; b-- {
		r.gapsFrom[b] = r.gapsFrom[b+1] + r.each*float64(r.gaps[b].count)
		r.gapLengthFrom[b] = r.gapLengthFrom[b+1] + r.each*float64(r.gaps[b].sum)
	}
	for b := range n {
		r.reuseUpTo[b+1] = r.reuseUpTo[b] + r.each*float64(r.reuse[b].count)
	}
	missing := float64(r.number-r.columns) - r.reuseUpTo[n]
	for b := range n {
		r.reuseUpTo[b+1] = math.Max(r.reuseUpTo[b+1]+missing, 0)
	}
}

// footprint returns how many different columns a window of refs references has, on average over all
// windows of that length (Xiang et al., HOTL, ASPLOS 2013):
//
//	m − Σ_gaps longer than refs (gap − refs) / (n − refs + 1)
func (r *references) footprint(refs float64) float64 {
	m, n := float64(r.columns), float64(r.number)
	switch {
	case refs <= 0:
		return 0
	case r.gapsFrom[0] == 0: // not counted
		return math.Min(refs, m)
	case refs >= n:
		return m
	}
	b := bin(uint64(refs)) + 1
	missing := r.gapLengthFrom[b] - refs*r.gapsFrom[b]
	// The bin that refs lies in holds gaps on both sides of it.
	lo, hi := binStart(b-1), binStart(b)
	if in, sum := r.each*float64(r.gaps[b-1].count), r.each*float64(r.gaps[b-1].sum); in > 0 {
		longer := (hi - refs) / (hi - lo)
		missing += math.Max(sum*longer-refs*in*longer, 0)
	}
	return math.Max(math.Min(m-missing/(n-refs+1), math.Min(m, refs)), math.Min(1, m))
}

// reused returns how many references come at most refs references after the one before to the same
// column.
func (r *references) reused(refs float64) float64 {
	switch {
	case refs < 1:
		return 0
	case refs >= float64(r.number):
		return r.reuseUpTo[len(r.reuseUpTo)-1]
	}
	b := bin(uint64(refs))
	lo, hi := binStart(b), binStart(b+1)
	return r.reuseUpTo[b] + (r.reuseUpTo[b+1]-r.reuseUpTo[b])*math.Min((refs-lo+1)/(hi-lo), 1)
}
