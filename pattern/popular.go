package pattern

import (
	"errors"
	"math"

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
func (p *planner) panelSums(c *ranked, width int) (all []int64, err error) {
	var s scratch
	defer func() { s.close(&err) }()
	sums, err := temporary[int64](p.dev, &s, dialect.Blocks(c.counts.Len(), int64(width)))
	if err != nil {
		return nil, err
	}
	if err := p.panelSumsInto(sums, c, width); err != nil {
		return nil, err
	}
	all = make([]int64, sums.Len())
	return all, sums.Download(all)
}

// panelSumsInto is panelSums with the result left on the device.
func (p *planner) panelSumsInto(sums *device.Buffer[int64], c *ranked, width int) error {
	return p.launchBlocks(kernels.PartSums(), sums.Len(), device.Value(c.counts.Len()), device.Value(int64(width)), c.counts.Arg(), sums.Arg())
}

// countPanels is that of Resident. All widths are counted before the host asks, for to allocate memory and to wait take longer than
// to count.
func (p *planner) countPanels(r *Resident, c *ranked, widths []int) (all [][]tiling.PanelCount, err error) {
	ends := make([]int64, 0, len(widths)) // of the panels of each width, among all
	var n int64
	for _, width := range widths {
		n += dialect.Blocks(c.counts.Len(), int64(width))
		ends = append(ends, n)
	}
	var s scratch
	defer func() { s.close(&err) }()
	sums, err := temporary[int64](p.dev, &s, n)
	if err != nil {
		return nil, err
	}
	active, err := temporary[int32](p.dev, &s, n)
	if err != nil {
		return nil, err
	}
	if err := active.Zero(); err != nil {
		return nil, err
	}
	every := tiling.SampleEvery(r.NNZ)
	rows := dialect.Blocks(int64(r.Rows), int64(every))
	each := max(min(rows/int64(8*max(p.dev.Props().Units, 1)), kernels.ActiveRowsMost), 1)
	from := int64(0)
	for w, to := range ends {
		if err := p.panelSumsInto(sums.View(from, to), c, widths[w]); err != nil {
			return nil, err
		}
		if err := p.launchBlocks(kernels.ActiveRows(), dialect.Blocks(rows, each),
			device.Value(int32(rows)), device.Value(int32(each)), device.Value(int64(every)), device.Value(int32(to-from)), device.Value(int32(widths[w])),
			r.RowPtr.Arg(), r.ColIdx.Arg(), c.new.Arg(), active.View(from, to).Arg()); err != nil {
			return nil, err
		}
		from = to
	}
	nnz, seen := make([]int64, n), make([]int32, n)
	if err := errors.Join(sums.Download(nnz), active.Download(seen)); err != nil {
		return nil, err
	}
	panels := make([]tiling.PanelCount, n)
	for q := range panels {
		panels[q] = tiling.NewPanelCount(nnz[q], int(seen[q]), every)
	}
	from = 0
	for _, to := range ends {
		all = append(all, panels[from:to])
		from = to
	}
	return all, nil
}
