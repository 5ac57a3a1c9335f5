package pattern

import (
	"errors"
	"math"
	"slices"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern/kernels"
	"sddmmkit/tiling"
)

// Popular returns the columns by falling count, counted on the host on first use.
func (r *Resident) Popular() *tiling.Popular {
	if r.popular == nil {
		r.popular = tiling.NewPopular(r.Host(), r.threads())
	}
	return r.popular
}

// ranked is tiling.Popular on a GPU.
type ranked struct {
	old, new *device.Buffer[int32] // tiling.Order
	counts   *device.Buffer[int32] // of the columns in that order
}

func (c *ranked) close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.old.Close(), c.new.Close(), c.counts.Close())
}

// popularOnGPU returns the columns by falling count on the device, counted on first use, or nil where the host plans: see
// planner.
func (r *Resident) popularOnGPU(need int64) (*ranked, error) {
	p, err := r.planner(need + 32*int64(r.Cols))
	if p == nil || err != nil || r.Rows > math.MaxInt32 {
		return nil, err
	}
	if r.ranked == nil {
		if r.ranked, err = p.rank(r); err != nil {
			return nil, err
		}
	}
	return r.ranked, nil
}

// rank counts and sorts the columns.
func (p *planner) rank(r *Resident) (*ranked, error) {
	counts, err := p.counts(r.ColIdx, r.Cols)
	if err != nil {
		return nil, err
	}
	s, err := sortKeys[int32](p, counts, r.Rows, falling)
	if err = errors.Join(err, counts.Close()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	c := &ranked{old: s.from, counts: s.keys}
	if c.new, err = device.Alloc[int32](p.dev, int64(r.Cols)); err == nil {
		err = p.launch(kernels.Inverse(), int64(r.Cols), device.Value(int64(r.Cols)), c.old.Arg(), c.new.Arg())
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// panelSums returns the non-zeros of the panels of width popular columns.
func (r *Resident) panelSums(width int) ([]int64, error) {
	c, err := r.popularOnGPU(0)
	if err != nil {
		return nil, err
	}
	if c != nil {
		return r.plans.panelSums(c, width)
	}
	sums := make([]int64, (r.Cols+width-1)/width)
	for place, count := range r.Popular().Counts {
		sums[place/width] += count
	}
	return sums, nil
}

// countPanels returns the sizes of the panels of width popular columns, for each width: tiling.Popular.Panels.
func (r *Resident) countPanels(widths []int) ([][]tiling.PanelCount, error) {
	c, err := r.popularOnGPU(0)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return r.Popular().Panels(r.Host(), widths), nil
	}
	return r.plans.countPanels(r, c, widths)
}

// panelSums is that of Resident, for columns counted on the device.
func (p *planner) panelSums(c *ranked, width int) (sums []int64, err error) {
	var s scratch
	defer func() { s.close(&err) }()
	on, err := temporary[int64](p.dev, &s, dialect.Blocks(c.counts.Len(), int64(width)))
	if err != nil {
		return nil, err
	}
	return p.panelSumsOn(on, c, width)
}

// panelSumsOn is panelSums with room for them on the device.
func (p *planner) panelSumsOn(on *device.Buffer[int64], c *ranked, width int) ([]int64, error) {
	cols := c.counts.Len()
	on = on.View(0, dialect.Blocks(cols, int64(width)))
	if err := p.launchBlocks(kernels.PartSums(), on.Len(), device.Value(cols), device.Value(int64(width)), c.counts.Arg(), on.Arg()); err != nil {
		return nil, err
	}
	sums := make([]int64, on.Len())
	return sums, on.Download(sums)
}

// countPanels is that of Resident. All widths use the same room, for to allocate it takes longer than to count.
func (p *planner) countPanels(r *Resident, c *ranked, widths []int) (all [][]tiling.PanelCount, err error) {
	most := dialect.Blocks(c.counts.Len(), int64(slices.Min(widths)))
	var s scratch
	defer func() { s.close(&err) }()
	sums, err := temporary[int64](p.dev, &s, most)
	if err != nil {
		return nil, err
	}
	active, err := temporary[int32](p.dev, &s, most)
	if err != nil {
		return nil, err
	}
	for _, width := range widths {
		panels, err := p.countPanelsOn(sums, active, r, c, width)
		if err != nil {
			return nil, err
		}
		all = append(all, panels)
	}
	return all, nil
}

// countPanelsOn is countPanels for one width, with room on the device.
func (p *planner) countPanelsOn(on *device.Buffer[int64], active *device.Buffer[int32], r *Resident, c *ranked, width int) ([]tiling.PanelCount, error) {
	sums, err := p.panelSumsOn(on, c, width)
	if err != nil {
		return nil, err
	}
	active = active.View(0, int64(len(sums)))
	if err := active.Zero(); err != nil {
		return nil, err
	}
	every := tiling.SampleEvery(r.NNZ)
	if err := p.launchBlocks(kernels.ActiveRows(), dialect.Blocks(int64(r.Rows), int64(every)),
		device.Value(int32(len(sums))), device.Value(int32(width)), device.Value(int64(every)),
		r.RowPtr.Arg(), r.ColIdx.Arg(), c.new.Arg(), active.Arg()); err != nil {
		return nil, err
	}
	seen := make([]int32, len(sums))
	if err := active.Download(seen); err != nil {
		return nil, err
	}
	panels := make([]tiling.PanelCount, len(sums))
	for q, nnz := range sums {
		panels[q] = tiling.NewPanelCount(nnz, int(seen[q]), every)
	}
	return panels, nil
}
