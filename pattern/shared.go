package pattern

import (
	"errors"
	"fmt"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/tiling"
)

// Shared is a pattern cut for kernels that keep rows of B in shared memory, on its device: tiling.Shared in
// buffers. It takes 8 bytes a non-zero. It belongs to the pattern.
type Shared struct {
	Width   int   // columns of a panel
	Columns int   // columns in all panels
	Entries int64 // of Local

	// Items are four numbers each: the panel, the first row of the block, the first entry and the one after the last.
	// Share n has the items [Shares[n], Shares[n+1]); Dense are the items after those, which are whole cells.
	Items, Dense *device.Buffer[int64] // Dense is a part of Items
	Shares       *device.Buffer[int32]
	ShareCount   int
	Height       int // most rows of a block

	// Pieces are runs of at most PieceNNZ non-zeros within a block of rows, three numbers each: the first, the
	// one after the last, and the entry that Entry counts from.
	Pieces     *device.Buffer[int64]
	PieceCount int64

	Cols         *device.Buffer[int32]
	Local, Entry *device.Buffer[uint32]

	Rest *Rest // nil where all columns are in panels
}

// Rest is what Shared has no panels for: a pattern of its own, and At, where its non-zeros stand in the whole.
type Rest struct {
	NNZ    int64
	RowPtr *device.Buffer[int64]
	ColIdx *device.Buffer[int32]
	Starts *device.Buffer[int32] // as Launches has them
	At     *device.Buffer[int64]
}

// PieceNNZ is the most non-zeros of one of Shared.Pieces.
const PieceNNZ = 2048

// Shared returns the pattern cut for a tile: its first t.Panels panels of t.Tj popular columns, in blocks of t.Ti rows, t.Dense of them
// dense. No panels stands for all that use each row of B which they load at least once on average; more would be slower for certain. It is
// made on first use and kept.
func (r *Resident) Shared(t model.Tile) (*Shared, error) {
	t.Tk = 0 // all slices have the same cut
	if s, ok := r.shared[t]; ok {
		return s, nil
	}
	cut := tiling.SharedCut{Width: t.Tj, Height: t.Ti, Panels: t.Panels, Dense: t.Dense, Units: max(r.dev.Props().Units, 1)}
	if cut.Panels == 0 {
		var err error
		if cut.Panels, err = r.usefulPanels(t.Tj, t.Ti); err != nil {
			return nil, err
		}
	}
	s, err := r.cut(cut)
	if err != nil {
		return nil, err
	}
	if r.shared == nil {
		r.shared = map[model.Tile]*Shared{}
	}
	r.shared[t] = s
	return s, nil
}

// ForgetShared frees the pattern cut for a tile, if it is. Whoever asks for it again has it made again.
func (r *Resident) ForgetShared(t model.Tile) error {
	t.Tk = 0
	err := r.shared[t].close()
	delete(r.shared, t)
	return err
}

// cut makes a Shared.
func (r *Resident) cut(cut tiling.SharedCut) (*Shared, error) {
	columns, err := r.popularOnGPU(cutBytes(r.NNZ))
	if err != nil {
		return nil, err
	}
	if columns != nil {
		return r.plans.cut(r, columns, cut)
	}
	host, err := tiling.NewShared(r.Host(), r.Popular().Order, cut, r.threads())
	if err != nil {
		return nil, err
	}
	s := &Shared{Width: cut.Width, Height: cut.Height, Columns: len(host.Cols), Entries: int64(len(host.Local))}
	if err := s.upload(r.dev, host); err != nil {
		return nil, fmt.Errorf("pattern.Shared: %w", errors.Join(err, s.close()))
	}
	return s, nil
}

// usefulPanels returns the number that no panels stands for.
func (r *Resident) usefulPanels(width, height int) (int, error) {
	if width < 1 || height < 1 {
		return 0, nil // which is no way to cut
	}
	sums, err := r.panelSums(width)
	if err != nil {
		return 0, err
	}
	blocks := (r.Rows + height - 1) / height
	for q, nnz := range sums {
		if nnz < int64(min(width, r.Cols-q*width))*int64(blocks) {
			return q, nil
		}
	}
	return len(sums), nil
}

// uploadItems makes Items, Shares and Pieces.
func (s *Shared) uploadItems(dev device.Device, items []tiling.Item, shares []int32, blocks []tiling.Block) (err error) {
	var work, pieces []int64
	for _, i := range items {
		work = append(work, int64(i.Panel), int64(i.Row), i.Lo, i.Hi)
	}
	for _, b := range blocks {
		for lo := b.Lo; lo < b.Hi; lo += PieceNNZ {
			pieces = append(pieces, lo, min(lo+PieceNNZ, b.Hi), b.Entry)
		}
	}
	s.ShareCount, s.PieceCount = len(shares)-1, int64(len(pieces)/3)
	if s.Items, err = device.FromHost(dev, work); err != nil {
		return err
	}
	s.Dense = s.Items.View(4*int64(shares[s.ShareCount]), int64(len(work)))
	if s.Shares, err = device.FromHost(dev, shares); err != nil {
		return err
	}
	s.Pieces, err = device.FromHost(dev, pieces)
	return err
}

// upload makes the buffers of a cut.
func (s *Shared) upload(dev device.Device, cut *tiling.Shared) (err error) {
	if err := s.uploadItems(dev, cut.Items, cut.Shares, cut.Blocks); err != nil {
		return err
	}
	if s.Cols, err = device.FromHost(dev, cut.Cols); err != nil {
		return err
	}
	if s.Local, err = device.FromHost(dev, cut.Local); err != nil {
		return err
	}
	if s.Entry, err = device.FromHost(dev, cut.Entry); err != nil || cut.Rest == nil {
		return err
	}
	s.Rest = &Rest{NNZ: cut.Rest.NNZ()}
	if s.Rest.RowPtr, err = device.FromHost(dev, cut.Rest.RowPtr); err != nil {
		return err
	}
	if s.Rest.ColIdx, err = device.FromHost(dev, cut.Rest.ColIdx); err != nil {
		return err
	}
	if s.Rest.Starts, err = device.FromHost(dev, starts(cut.Rest)); err != nil {
		return err
	}
	s.Rest.At, err = device.FromHost(dev, cut.RestAt)
	return err
}

func (s *Shared) close() error {
	if s == nil {
		return nil
	}
	err := errors.Join(s.Items.Close(), s.Shares.Close(), s.Pieces.Close(), s.Cols.Close(), s.Local.Close(), s.Entry.Close())
	if r := s.Rest; r != nil {
		err = errors.Join(err, r.RowPtr.Close(), r.ColIdx.Close(), r.Starts.Close(), r.At.Close())
	}
	return err
}
