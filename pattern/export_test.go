package pattern

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/tiling"
)

// What tests see of the inside.
var (
	UsableL2    = usableL2
	MeasureL2   = measureL2
	L2Knee      = l2Knee
	NewChunks   = func(n int64) int64 { return newDigits(n).chunk }
	L2RateCount = l2Most - l2Least + 1
)

// PlanOnGPU makes GPUs plan for patterns of at least that many non-zeros.
func PlanOnGPU(t testing.TB, least int64) {
	old := leastOnGPU
	leastOnGPU = least
	t.Cleanup(func() { leastOnGPU = old })
}

// SortKeys sorts on a GPU.
func SortKeys[V int32 | int64](dev device.Launcher, keys *device.Buffer[int32], most int, fall bool) (sorted *device.Buffer[int32], from *device.Buffer[V], err error) {
	s, err := sortKeys[V](&planner{dev: dev}, keys, most, order(fall))
	if err != nil {
		return nil, nil, err
	}
	return s.keys, s.from, nil
}

// SortManyKeys sorts on a GPU as if there were 2³¹ keys or more.
func SortManyKeys(dev device.Launcher, keys *device.Buffer[int32], most int, fall bool) (sorted *device.Buffer[int32], from *device.Buffer[int64], err error) {
	s, err := sortThrough[int64, int64](&planner{dev: dev}, keys, most, order(fall))
	if err != nil {
		return nil, nil, err
	}
	return s.keys, s.from, nil
}

// Sum sums on a GPU.
func Sum(dev device.Launcher, x *device.Buffer[int32]) (*device.Buffer[int64], error) {
	return (&planner{dev: dev}).sum(x)
}

// Ranked returns tiling.Popular as the GPU has it.
func (r *Resident) Ranked() (old, new, counts *device.Buffer[int32], err error) {
	c, err := r.popularOnGPU(0)
	if err != nil {
		return nil, nil, nil, err
	}
	return c.old, c.new, c.counts, nil
}

// CountPanels returns the sizes of panels.
func (r *Resident) CountPanels(widths []int) ([][]tiling.PanelCount, error) {
	return r.countPanels(widths)
}

// OnHost reports whether the pattern is on the host.
func (r *Resident) OnHost() bool { return r.host != nil }
