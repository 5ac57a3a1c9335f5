package conformance

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// busy is a pattern that reads each row of B so often that a CPU gathers the last column apart (model.LastApart), and each row of a
// transposed product so often that it copies those that do not begin on cache lines (pattern.Slices).
func busy() *sparse.Pattern {
	const rows, cols = 720, 100
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		for j := range cols {
			if (i+j)%4 > 0 {
				p.ColIdx = append(p.ColIdx, int32(j))
			}
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

// stagedDepths are depths whose rows are copied, in one precision or both, with the gaps that make them begin on lines of 64 bytes. Above a
// whole number of lines the last column is apart (model.LastApart).
var stagedDepths = map[int]int{7: 9, 9: 7, 15: 1, 17: 15, 31: 1, 33: 15, 63: 1, 129: 15}

// stagedScalars are without partial sums in P of SDDMM, and with.
var stagedScalars = []scalars{{-0.3, 0.7}, {1.2, 0}}

// sddmmStaged checks results with rows of B that a CPU copies against the reference, and their bits against those without.
func sddmmStaged[T Float](t *testing.T, dev device.Device) {
	p := busy()
	_, pl := sddmmPlan[T](t, dev, p)
	before := dev.Usage()
	for k, gap := range stagedDepths {
		for _, x := range stagedScalars {
			c := newSDDMM(newRand(uint64(k)), p, k, sddmm.Residual, x, reals[T], false)
			first := c.run(t, dev, pl, 0, 0)
			c.check(t, first)
			sameBits(t, c.String()+": on lines", c.run(t, dev, pl, gap, 0), first)
			sameBits(t, c.String()+": another layout", c.run(t, dev, pl, 2, 1), first)
		}
	}
	copied(t, dev, before)
}

// copied checks that a CPU kept memory for a copy.
func copied(t *testing.T, dev device.Device, before device.Usage) {
	t.Helper()
	if _, ok := dev.(device.Host); ok && dev.Usage() == before {
		t.Error("rows of B were not copied")
	}
}

// spmmStaged is sddmmStaged for both forms of SpMM.
func spmmStaged[T Float](t *testing.T, dev device.Device) {
	p := busy()
	_, pl := spmmPlan[T](t, dev, p)
	for _, op := range forms { // with rows on lines, for the transpose to be made
		newSpMM(newRand(1), p, 16, op, scalars{1, 0}, reals[T], false).run(t, dev, pl, 0, 0)
	}
	before := dev.Usage()
	for k, gap := range stagedDepths {
		for _, op := range forms {
			c := newSpMM(newRand(uint64(k)), p, k, op, scalars{-0.3, 0.7}, reals[T], false)
			first := c.run(t, dev, pl, 0, 0)
			c.check(t, first)
			sameBits(t, c.String()+": on lines", c.run(t, dev, pl, gap, 0).Data, first.Data)
			sameBits(t, c.String()+": another layout", c.run(t, dev, pl, 2, 1).Data, first.Data)
		}
	}
	copied(t, dev, before)
}
