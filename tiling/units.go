package tiling

import "sddmmkit/sparse"

// Unit is a piece of work of about equal cost: either a run of whole rows, or a piece of one
// row that is too long for one unit.
type Unit struct {
	RowLo, RowHi int   // rows [RowLo, RowHi)
	Lo, Hi       int64 // non-zeros [Lo, Hi)
	Slot         int   // -1 for whole rows, else the number of the piece among all pieces
}

// SplitRow is a row that was cut into the pieces of slots [SlotLo, SlotHi).
type SplitRow struct {
	Row            int
	SlotLo, SlotHi int
}

// Units is a pattern cut into units of work.
type Units struct {
	Units []Unit
	Split []SplitRow // rows in pieces, by increasing row
	Slots int        // number of pieces
}

// Bounds of the cost of one unit. They depend on the pattern alone and never on the number of
// threads: where a long row is cut decides the order of its sums, and with it the last bits.
const (
	unitsWanted = 1024
	minUnitCost = 2048
)

// UnitCost returns the cost of one unit of p, in non-zeros plus rows.
func UnitCost(p *sparse.Pattern) int64 {
	return max((p.NNZ()+int64(p.Rows))/unitsWanted, minUnitCost)
}

// Cut cuts p into units of cost at most cost, where a non-zero costs one and so does a row (an
// empty row is written too). Every row and every non-zero is in exactly one unit, in order.
func Cut(p *sparse.Pattern, cost int64) Units {
	var u Units
	if p.Rows == 0 {
		return u
	}
	cost = max(cost, 2)
	start := 0 // first row of the open unit
	flush := func(end int) {
		if end > start {
			u.Units = append(u.Units, Unit{RowLo: start, RowHi: end, Lo: p.RowPtr[start], Hi: p.RowPtr[end], Slot: -1})
		}
		start = end
	}
	for i := range p.Rows {
		lo, hi := p.RowPtr[i], p.RowPtr[i+1]
		if hi-lo < cost {
			if hi-p.RowPtr[start]+int64(i+1-start) > cost {
				flush(i)
			}
			continue
		}
		flush(i)
		pieces := (hi - lo + cost - 1) / cost
		split := SplitRow{Row: i, SlotLo: u.Slots, SlotHi: u.Slots + int(pieces)}
		for s := range pieces {
			u.Units = append(u.Units, Unit{
				RowLo: i, RowHi: i + 1,
				Lo:   lo + (hi-lo)*s/pieces,
				Hi:   lo + (hi-lo)*(s+1)/pieces,
				Slot: u.Slots + int(s),
			})
		}
		u.Slots = split.SlotHi
		u.Split = append(u.Split, split)
		start = i + 1
	}
	flush(p.Rows)
	return u
}
