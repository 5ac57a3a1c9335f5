package pattern

import (
	"errors"
	"fmt"
	"time"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
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
	Work       tiling.Units

	dev         device.Device
	host        *sparse.Pattern
	transposed  *Transposed            // once made
	launches    *Launches              // once made
	panels      map[int]*tiling.Panels // by width, once made
	popular     *tiling.Popular        // once made
	shared      map[sharedKey]*Shared  // once made
	panelCounts [][]tiling.PanelCount  // for the widths of model.SharedSlices, once made
	profile     *model.Profile         // once made
	planning    time.Duration          // that profile and panels took to make
	choices     map[chooseKey]model.Choice
	searches    map[chooseKey]*Search
}

// Transposed is the transpose of a pattern. As a Resident it is a pattern like any other, with
// values in its own order; Perm says where its non-zeros stand in the order of the original.
type Transposed struct {
	Resident
	Perm *device.Buffer[int64] // NNZ: non-zero q here is non-zero Perm[q] of the original

	perm []int64
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
	*r = Resident{Rows: p.Rows, Cols: p.Cols, NNZ: p.NNZ(), dev: dev, host: p, Work: tiling.Cut(p, tiling.UnitCost(p))}
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

// Host returns the pattern on the host. It is shared: do not change it.
func (r *Resident) Host() *sparse.Pattern { return r.host }

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

// Transpose returns the transpose of the pattern. It is made on first use, belongs to r and is
// closed with it.
func (r *Resident) Transpose() (*Transposed, error) {
	if err := device.Check("pattern.Transpose", r.Operand()); err != nil {
		return nil, err
	}
	if r.transposed != nil && r.transposed.RowPtr != nil {
		return r.transposed, nil
	}
	p, perm := r.host.Transpose(r.threads())
	t := &Transposed{perm: perm}
	if err := t.place(r.dev, p); err != nil {
		return nil, fmt.Errorf("pattern.Transpose: %w", err)
	}
	var err error
	if t.Perm, err = device.Place(r.dev, perm); err != nil {
		t.Resident.Close()
		return nil, fmt.Errorf("pattern.Transpose: %w", err)
	}
	r.transposed = t
	return t, nil
}

// Panels returns the pattern cut into panels of width columns, on the host. They are made on first use
// and kept, for all operations and all K. The rows of the pattern must be sorted.
func (r *Resident) Panels(width int) (*tiling.Panels, error) {
	if p, ok := r.panels[width]; ok {
		return p, nil
	}
	start := time.Now()
	p, err := tiling.Columns(r.host, width, r.threads())
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

// UnitCost returns the number of non-zeros from which on a row is cut into pieces in Work.
func (r *Resident) UnitCost() int64 { return tiling.UnitCost(r.host) }

// threads returns the number of threads that planning may use.
func (r *Resident) threads() int {
	if h, ok := r.dev.(device.Host); ok {
		return h.Threads()
	}
	return 0
}

// Gather returns values of the original, on the host, in the order of the transpose.
func Gather[T any](t *Transposed, values []T) []T {
	out := make([]T, len(values))
	parallel.Ranges(0, int64(len(out)), func(_ int, lo, hi int64) {
		for q := lo; q < hi; q++ {
			out[q] = values[t.perm[q]]
		}
	})
	return out
}

// Close frees the pattern and its transpose. Closing again does nothing.
func (r *Resident) Close() error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.RowPtr.Close(), r.ColIdx.Close(), r.launches.close())
	for _, s := range r.shared {
		err = errors.Join(err, s.close())
	}
	r.RowPtr, r.ColIdx, r.launches, r.shared = nil, nil, nil, nil
	if t := r.transposed; t != nil {
		r.transposed = nil
		err = errors.Join(err, t.Close())
	}
	return err
}

// Close frees the transpose and leaves the original open, which makes another one when asked.
// Closing again does nothing.
func (t *Transposed) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.Perm.Close(), t.Resident.Close())
}
