package pattern

import (
	"errors"
	"fmt"
	"time"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// Resident is a sparsity pattern on a device. It is not safe for concurrent use.
type Resident struct {
	Rows, Cols int
	NNZ        int64
	RowPtr     *device.Buffer[int64] // Rows+1
	ColIdx     *device.Buffer[int32] // NNZ
	Work       tiling.Units          // of CPUs; GPUs have Launches

	dev         device.Device
	host        *sparse.Pattern
	makeHost    func()                 // makes host where it is nil
	pointers    []int64                // of a pattern without host, once asked for
	plans       *planner               // of a GPU, once needed
	transposed  *Transposed            // once made
	launches    *Launches              // once made
	panels      map[int]*tiling.Panels // by width, once made
	popular     *tiling.Popular        // once made on the host
	ranked      *ranked                // the same on a GPU, once made
	shared      map[model.Tile]*Shared // once made
	panelCounts [][]tiling.PanelCount  // for the widths of model.SharedSlices, once made
	profile     *model.Profile         // once made
	profiling   time.Duration          // that the profile took to make
	planning    time.Duration          // that profile, predictions and panels took to make
	model       *model.GPU             // once made
	staged      buffer                 // of copied rows of B, see Slices
	packed      buffer                 // of rows of A or C, see Packed
	choices     map[chooseKey]model.Choice
	searches    map[chooseKey]*Search
}

// Upload validates p and puts it on dev. On the CPU nothing is copied: p's slices are used in
// place and must not change until Close.
func Upload(dev device.Device, p *sparse.Pattern) (*Resident, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("pattern.Upload: %w", err)
	}
	r := &Resident{}
	if err := r.place(dev, p); err != nil {
		return nil, err
	}
	return r, nil
}

// place fills r with p on dev, or leaves nothing behind.
func (r *Resident) place(dev device.Device, p *sparse.Pattern) (err error) {
	*r = Resident{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ(), dev: dev, host: p}
	if _, ok := dev.(device.Launcher); !ok {
		r.Work = tiling.Cut(p, tiling.UnitCost(p))
	}
	if r.RowPtr, err = device.Place(dev, p.RowPtr); err != nil {
		return err
	}
	if r.ColIdx, err = device.Place(dev, p.ColIdx); err != nil {
		r.Close()
	}
	return err
}

// Device returns where the pattern lives.
func (r *Resident) Device() device.Device { return r.dev }

// Host returns the pattern on the host. It is shared: do not change it. A transpose that a GPU has made is
// made again for it.
func (r *Resident) Host() *sparse.Pattern {
	if r.host == nil {
		r.makeHost()
	}
	return r.host
}

// Pointers returns the row pointers on the host. They are shared: do not change them.
func (r *Resident) Pointers() ([]int64, error) {
	if r.host != nil {
		return r.host.RowPtr, nil
	}
	if r.pointers == nil {
		pointers := make([]int64, r.RowPtr.Len())
		if err := r.RowPtr.Download(pointers); err != nil {
			return nil, err
		}
		r.pointers = pointers
	}
	return r.pointers, nil
}

// Shape names the pattern with its size, for error messages.
func (r *Resident) Shape() string {
	return fmt.Sprintf("pattern %d×%d with %d non-zeros", r.Rows, r.Cols, r.NNZ)
}

// Operand names the pattern, which may be nil, for device.Check.
func (r *Resident) Operand() device.Operand {
	if r == nil {
		return device.Operand{Name: "pattern"}
	}
	return device.Operand{Name: "pattern", On: r.dev, Closed: r.RowPtr == nil}
}

// Panels returns the pattern cut into panels of width columns, on the host. They are made on first use
// and kept, for all operations and all K. The rows of the pattern must be sorted.
func (r *Resident) Panels(width int) (*tiling.Panels, error) {
	if p, ok := r.panels[width]; ok {
		return p, nil
	}
	start := time.Now()
	p, err := tiling.Columns(r.Host(), width, r.threads())
	if err != nil {
		return nil, err
	}
	r.planning += time.Since(start)
	if r.panels == nil {
		r.panels = map[int]*tiling.Panels{}
	}
	r.panels[width] = p
	return p, nil
}

// Near reports whether the inner loops on host are to take rows of B for near, as model.Near says: rows of them, of so many bytes each, are
// gathered together, all or those of a panel.
func (r *Resident) Near(host device.Host, op model.Op, rows, bytes int) bool {
	p := host.Props()
	return model.Near(op, r.NNZ, r.Cols, rows, bytes, p.L2Bytes, p.L3Bytes)
}

// UnitCost returns the number of non-zeros from which on a row is cut into pieces in Work.
func (r *Resident) UnitCost() int64 { return tiling.UnitCost(r.Host()) }

// threads returns the number of threads that planning may use.
func (r *Resident) threads() int {
	if h, ok := r.dev.(device.Host); ok {
		return h.Threads()
	}
	return 0
}

// Close frees the pattern and its transpose. Closing again does nothing.
func (r *Resident) Close() error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.RowPtr.Close(), r.ColIdx.Close(), r.launches.close(), r.ranked.close())
	for _, s := range r.shared {
		err = errors.Join(err, s.close())
	}
	for _, b := range []*buffer{&r.staged, &r.packed} {
		if *b != nil {
			err = errors.Join(err, (*b).Close())
			*b = nil
		}
	}
	r.RowPtr, r.ColIdx, r.launches, r.ranked, r.shared = nil, nil, nil, nil, nil
	if t := r.transposed; t != nil {
		r.transposed = nil
		err = errors.Join(err, t.Close())
	}
	return err
}
