package pattern

import (
	"errors"
	"fmt"
	"math"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// Launches is what kernels on a GPU need of a pattern beside its arrays, all on its device. It belongs to the
// pattern.
type Launches struct {
	// Starts[g] is the row of non-zero StartEvery·g; one more is the row of the last non-zero. It
	// tells threads that begin in the middle where they are.
	Starts *device.Buffer[int32]

	// Units are the rows in units of about equal cost, five numbers each: the first row, the one
	// after the last, the first non-zero, the one after the last, and the slot of a piece or -1.
	Units     *device.Buffer[int64]
	UnitCount int64

	// Split are the rows in pieces, three numbers each: the row, its first slot, the one after its last.
	Split      *device.Buffer[int64]
	SplitCount int64
	Slots      int64
}

// StartEvery is the distance between the non-zeros whose rows Starts holds.
const StartEvery = 32

// Bounds of the cost of a unit on a GPU, in non-zeros plus rows. As on the CPU they depend on the pattern
// alone, so that sums do too.
const (
	launchUnits       = 1 << 16
	minLaunchUnitCost = 128
)

// Launches returns what kernels need, made on first use.
func (r *Resident) Launches() (*Launches, error) {
	if r.launches != nil {
		return r.launches, nil
	}
	if r.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("pattern: %d rows; a GPU takes at most %d", r.Rows, math.MaxInt32)
	}
	cost := max((r.NNZ+int64(r.Rows))/launchUnits, minLaunchUnitCost)
	work := tiling.Cut(r.host, cost)
	l := &Launches{UnitCount: int64(len(work.Units)), SplitCount: int64(len(work.Split)), Slots: int64(work.Slots)}
	units := make([]int64, 0, 5*len(work.Units))
	for _, u := range work.Units {
		units = append(units, int64(u.RowLo), int64(u.RowHi), u.Lo, u.Hi, int64(u.Slot))
	}
	split := make([]int64, 0, 3*len(work.Split))
	for _, s := range work.Split {
		split = append(split, int64(s.Row), int64(s.SlotLo), int64(s.SlotHi))
	}
	var err error
	if l.Starts, err = device.FromHost(r.dev, starts(r.host)); err != nil {
		return nil, err
	}
	if l.Units, err = device.FromHost(r.dev, units); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.Split, err = device.FromHost(r.dev, split); err != nil {
		return nil, errors.Join(err, l.close())
	}
	r.launches = l
	return l, nil
}

func (l *Launches) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.Starts.Close(), l.Units.Close(), l.Split.Close())
}

// starts returns Launches.Starts.
func starts(p *sparse.Pattern) []int32 {
	nnz := p.NNZ()
	if nnz == 0 {
		return nil
	}
	out := make([]int32, (nnz+StartEvery-1)/StartEvery+1)
	last := len(out) - 1
	parallel.Ranges(0, int64(p.Rows), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			from, to := p.RowPtr[i], p.RowPtr[i+1]
			for g := (from + StartEvery - 1) / StartEvery; g*StartEvery < to; g++ {
				out[g] = int32(i)
			}
			if from < nnz && to == nnz {
				out[last] = int32(i)
			}
		}
	})
	return out
}
