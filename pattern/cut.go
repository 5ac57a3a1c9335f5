package pattern

import (
	"errors"
	"fmt"

	"sddmmkit/device"
	"sddmmkit/pattern/kernels"
	"sddmmkit/tiling"
)

// cutBytes returns the memory that cut takes at most for nnz non-zeros, that of its result included.
func cutBytes(nnz int64) int64 { return sortBytes[int64](nnz) + (4+2*4+12)*nnz }

// cut makes a Shared on the device, as tiling.NewShared does: non-zeros sorted by cells, which have numbers, and behind them the
// rest. The host makes items of the sizes of cells.
func (p *planner) cut(r *Resident, columns *ranked, cut tiling.SharedCut) (shared *Shared, err error) {
	rowPtr, err := r.Pointers()
	if err != nil {
		return nil, err
	}
	cells, err := tiling.NewCells(rowPtr, r.Cols, cut)
	if err != nil {
		return nil, err
	}
	var s scratch
	defer func() {
		if s.close(&err); err != nil {
			err = fmt.Errorf("pattern.Shared: %w", errors.Join(err, shared.close()))
			shared = nil
		}
	}()
	w, err := p.sortCells(r, columns, cells, &s)
	if err != nil {
		return nil, err
	}
	n := w.none
	first := make([]int64, n+1)
	if err := w.first.Download(first); err != nil {
		return nil, err
	}
	counts := make([]int64, n)
	for c := range counts {
		counts[c] = first[c+1] - first[c]
	}
	items, shares, blocks, places := cells.Items(rowPtr, counts)
	shared = &Shared{Width: cut.Width, Height: cut.Height, Columns: cells.Columns, Entries: places[n]}
	if err := shared.uploadItems(p.dev, items, shares, blocks); err != nil {
		return shared, err
	}
	if err := p.enter(r, columns, w, shared, places, &s); err != nil {
		return shared, err
	}
	if first[n] < r.NNZ {
		err = p.rest(r, shared, w.sorted.from.View(first[n], r.NNZ))
	}
	return shared, err
}

// cellWork are the non-zeros of a pattern sorted by cells.
type cellWork struct {
	cells  *tiling.Cells
	none   int                   // number of cells, and that of the non-zeros that are in none
	cuts   *device.Buffer[int32] // rows that blocks begin with
	starts *device.Buffer[int32]
	sorted *sorted[int64]        // cells, and non-zeros
	first  *device.Buffer[int64] // none+1: where those of a cell begin
}

// sortCells makes a cellWork, whose buffers are among the scratch or the pattern's.
func (p *planner) sortCells(r *Resident, columns *ranked, cells *tiling.Cells, s *scratch) (w *cellWork, err error) {
	w = &cellWork{cells: cells, none: cells.Each * cells.Blocks()}
	launches, err := r.Launches()
	if err != nil {
		return nil, err
	}
	w.starts = launches.Starts
	cuts := make([]int32, len(cells.Rows))
	for b, i := range cells.Rows {
		cuts[b] = int32(i)
	}
	if w.cuts, err = device.FromHost(p.dev, cuts); err != nil {
		return nil, err
	}
	*s = append(*s, w.cuts)
	keys, err := device.Alloc[int32](p.dev, r.NNZ)
	if err != nil {
		return nil, err
	}
	err = p.launch(kernels.Cells(), r.NNZ, device.Value(r.NNZ), device.Value(int32(cells.Blocks())), device.Value(int32(cells.Each)),
		device.Value(int32(cells.DenseColumns())), device.Value(int32(tiling.DenseWidth)), device.Value(int32(cells.Width)), device.Value(int32(cells.Columns)), device.Value(int32(w.none)),
		w.cuts.Arg(), r.RowPtr.Arg(), r.ColIdx.Arg(), w.starts.Arg(), columns.new.Arg(), keys.Arg())
	if err == nil {
		w.sorted, err = sortKeys[int64](p, keys, w.none, rising)
	}
	if err = errors.Join(err, keys.Close()); err != nil {
		return nil, errors.Join(err, w.sorted.close())
	}
	*s = append(*s, w.sorted.keys, w.sorted.from)
	if w.first, err = lower(p, w.sorted.keys, nil, int64(w.none)+1); err != nil {
		return nil, err
	}
	*s = append(*s, w.first)
	return w, nil
}

// enter makes Cols, Local and Entry of a Shared whose cells begin at places.
func (p *planner) enter(r *Resident, columns *ranked, w *cellWork, shared *Shared, places []int64, s *scratch) (err error) {
	if shared.Cols, err = device.Alloc[int32](p.dev, int64(shared.Columns)); err != nil {
		return err
	}
	if err := shared.Cols.CopyFrom(columns.old.View(0, int64(shared.Columns))); err != nil {
		return err
	}
	if shared.Local, err = device.Alloc[uint32](p.dev, shared.Entries); err != nil {
		return err
	}
	if shared.Entry, err = device.Alloc[uint32](p.dev, r.NNZ); err != nil {
		return err
	}
	at, err := device.FromHost(p.dev, places)
	if err != nil {
		return err
	}
	*s = append(*s, at)
	return p.launch(kernels.Entries(), r.NNZ, device.Value(r.NNZ), device.Value(int32(w.cells.Each)),
		device.Value(int32(w.cells.DenseColumns())), device.Value(int32(tiling.DenseWidth)), device.Value(int32(w.cells.Width)), device.Value(int32(w.none)),
		w.cuts.Arg(), r.RowPtr.Arg(), r.ColIdx.Arg(), w.starts.Arg(), columns.new.Arg(),
		w.sorted.keys.Arg(), w.sorted.from.Arg(), w.first.Arg(), at.Arg(), shared.Local.Arg(), shared.Entry.Arg())
}

// rest makes the rest of a Shared: non-zeros at of the pattern.
func (p *planner) rest(r *Resident, shared *Shared, at *device.Buffer[int64]) (err error) {
	n := at.Len()
	rest := &Rest{NNZ: n}
	shared.Rest = rest
	if rest.At, err = device.Alloc[int64](p.dev, n); err != nil {
		return err
	}
	if err := rest.At.CopyFrom(at); err != nil {
		return err
	}
	if rest.ColIdx, err = device.Alloc[int32](p.dev, n); err != nil {
		return err
	}
	if err := p.launch(kernels.Take("int"), n, device.Value(n), r.ColIdx.Arg(), rest.At.Arg(), rest.ColIdx.Arg()); err != nil {
		return err
	}
	if rest.RowPtr, err = lower(p, rest.At, r.RowPtr, r.RowPtr.Len()); err != nil {
		return err
	}
	rest.Starts, err = p.starts(rest.RowPtr, n)
	return err
}
