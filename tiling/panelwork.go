package tiling

// PanelUnit is a piece of work of about equal cost within a panel: either a run of whole segments,
// or a piece of one segment that is too long for one unit.
type PanelUnit struct {
	SegLo, SegHi int64 // segments [SegLo, SegHi)
	Lo, Hi       int64 // the non-zeros of a piece; unused for whole segments
	At           int64 // place in ColIdx of the first non-zero
	Slot         int   // -1 for whole segments, else the number of the piece within the panel
}

// Bounds of the cost of one unit of a panel, in non-zeros plus segments: a row of A or C is touched
// for each segment as a row of B is for each non-zero. They depend on the pattern alone. Threads wait for the last of them at the end of each
// panel: with five units of 2048 in each of 12 panels, two threads took 1.2 times as long.
const (
	panelUnitsWanted = 128
	minPanelUnitCost = 512
)

// cut fills in Work and Split.
func (p *Panels) cut(threads int) {
	type panel struct {
		work  []PanelUnit
		split []SplitRow
		slots int
		nnz   int64
	}
	all := make([]panel, p.Count())
	chunkLoop(threads, len(all), func(q int) {
		all[q].work, all[q].split, all[q].slots = cutPanel(p.Segments, p.Start[q], p.Start[q+1])
		for _, s := range p.Segments[p.Start[q]:p.Start[q+1]] {
			all[q].nnz += int64(s.N)
		}
	})
	p.WorkStart, p.SplitStart = make([]int, len(all)+1), make([]int, len(all)+1)
	for q, one := range all {
		p.WorkStart[q+1] = p.WorkStart[q] + len(one.work)
		p.SplitStart[q+1] = p.SplitStart[q] + len(one.split)
		p.Slots = max(p.Slots, one.slots)
	}
	p.Work = make([]PanelUnit, 0, p.WorkStart[len(all)])
	p.Split = make([]SplitRow, 0, p.SplitStart[len(all)])
	at := int64(0) // non-zeros before the panel
	for _, one := range all {
		for i := range one.work {
			one.work[i].At += at
		}
		at += one.nnz
		p.Work = append(p.Work, one.work...)
		p.Split = append(p.Split, one.split...)
	}
}

// cutPanel cuts segments [lo, hi) into units.
func cutPanel(segments []Segment, lo, hi int64) (work []PanelUnit, split []SplitRow, slots int) {
	total := hi - lo
	for _, s := range segments[lo:hi] {
		total += int64(s.N)
	}
	limit := max(total/panelUnitsWanted, minPanelUnitCost)
	start, cost := lo, int64(0)
	at := int64(0) // non-zeros before the open unit
	flush := func(end int64) {
		if end > start {
			work = append(work, PanelUnit{SegLo: start, SegHi: end, Slot: -1, At: at})
			at += cost - (end - start)
		}
		start, cost = end, 0
	}
	for g := lo; g < hi; g++ {
		s := segments[g]
		n := int64(s.N)
		if n < limit {
			if cost+n+1 > limit {
				flush(g)
			}
			cost += n + 1
			continue
		}
		flush(g)
		pieces := (n + limit - 1) / limit
		for k := range pieces {
			work = append(work, PanelUnit{SegLo: g, SegHi: g + 1,
				Lo: s.Lo + n*k/pieces, Hi: s.Lo + n*(k+1)/pieces, Slot: slots + int(k), At: at + n*k/pieces})
		}
		at += n
		split = append(split, SplitRow{Row: int(s.Row), SlotLo: slots, SlotHi: slots + int(pieces)})
		slots += int(pieces)
		start = g + 1
	}
	flush(hi)
	return work, split, slots
}
