package sddmm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm/kernels"
)

// scheme is how a GPU does a call: by gathering, or with panels of popular columns in shared memory.
type scheme struct {
	tile   model.Tile
	shared *pattern.Shared // nil: gather
}

// scheme returns the scheme for A and B.
func (pl *Plan[T]) scheme(ctx context.Context, a, b operand) (scheme, error) {
	k, elem := a.cols, a.size
	if !sharedDepth(a.elem, k) || !vectors(a, b) {
		return scheme{}, nil
	}
	if pl.tile != nil {
		if pl.tile.Tj == 0 {
			return scheme{}, nil
		}
		given := *pl.tile
		if !slices.Contains(kernels.Depths(a.elem), given.Tk) {
			given.Tk = 0 // a slice of the other type, for Run or for RunMixed
		}
		if !kernels.HasDense(a.elem) {
			given.Dense = 0
		}
		tile := pl.pat.SharedTile(given, k, elem)
		shared, err := pl.pat.Shared(tile)
		return scheme{tile, shared}, err
	}
	c, err := pl.pat.Choose(ctx, model.SDDMM, k, elem)
	if err != nil {
		return scheme{}, pl.orGather(err)
	}
	tile := c.Tile
	if t := pl.tunings[tuneKey{k, elem}]; t != nil && t.settled {
		tile = t.trials[0].tile
	}
	s, err := pl.ready(tile)
	if err != nil {
		return scheme{}, pl.orGather(err)
	}
	return s, nil
}

// ready returns the scheme of a tile that the model knows, with what it needs on the device.
func (pl *Plan[T]) ready(tile model.Tile) (scheme, error) {
	if tile == (model.Tile{}) {
		return scheme{}, nil
	}
	shared, err := pl.pat.Shared(tile)
	if err == nil {
		err = pl.reserve(shared.Entries)
	}
	return scheme{tile, shared}, err
}

// orGather makes a plan gather from now on whose device has no memory for more: panels need 8 bytes and a value for each non-zero, and
// planning needs some.
func (pl *Plan[T]) orGather(err error) error {
	if errors.Is(err, device.ErrOutOfMemory) {
		pl.tile = &model.Tile{}
		return nil
	}
	return err
}

// sharedDepth reports whether the kernel with panels takes K = k for elements of type t: it loads 16 bytes at a time.
func sharedDepth(t string, k int) bool { return k > 0 && k%dialect.VectorOf(t) == 0 }

// checkSharedTile checks a tile for SetTile.
func (pl *Plan[T]) checkSharedTile(t model.Tile) error {
	depths := kernels.Depths(dialect.TypeOf[T]())
	if dialect.TypeOf[T]() == "float" { // RunMixed
		depths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(depths, kernels.Depths("bfloat16")))))
	}
	if t == (model.Tile{}) || t.Ti >= 0 && t.Ti <= 1<<16 && t.Tj >= 1 && t.Tj <= 1<<16 && t.Panels >= 0 && t.Dense >= 0 && (t.Tk == 0 || slices.Contains(depths, t.Tk)) {
		return nil
	}
	return fmt.Errorf("sddmm: %d panels, %d of them dense, with tiles of %d rows, %d columns and %d of K; on %s want zeros, or 0 to 65536 rows, 1 to 65536 columns, a slice of %v of K and panels ≥ 0, 0 for a choice",
		t.Panels, t.Dense, t.Ti, t.Tj, t.Tk, pl.pat.Device().Kind(), depths)
}

// launchShared launches the kernel that gathers for the rest, those of panels and of dense panels, and the one that puts their dot
// products in their places.
func (pl *Plan[T]) launchShared(c *launchCall[T], s scheme) error {
	if rest := s.shared.Rest; rest != nil {
		if err := pl.gather(c, &gathering{nnz: rest.NNZ, rowPtr: rest.RowPtr, at: rest.At, colIdx: rest.ColIdx, starts: rest.Starts}); err != nil {
			return err
		}
	}
	if s.shared.Entries == 0 {
		return nil
	}
	if err := pl.reserve(s.shared.Entries); err != nil {
		return err
	}
	if s.shared.ShareCount > 0 {
		if err := pl.launchPanels(c, s); err != nil {
			return err
		}
	}
	if s.shared.Dense.Len() > 0 {
		if err := pl.launchDense(c, s.shared); err != nil {
			return err
		}
	}
	finish, err := pl.kernels.Load(c.dev, kernels.Finish(dialect.TypeOf[T]()))
	if err != nil {
		return err
	}
	return finish.Launch(s.shared.PieceCount, kernels.Threads, 0,
		device.Value(int32(c.f)), device.Value(c.alpha), device.Value(c.beta),
		s.shared.Pieces.Arg(), s.shared.Entry.Arg(), pl.dots.Arg(), c.s.Arg(), c.p.Arg())
}

// launchPanels launches the kernel that keeps panels in shared memory.
func (pl *Plan[T]) launchPanels(c *launchCall[T], s scheme) error {
	v := kernels.NewTile(c.a.elem, s.tile.Tk)
	tile, err := pl.kernels.Load(c.dev, v.Variant())
	if err != nil {
		return err
	}
	bytes := s.tile.Tj * s.tile.Tk * c.a.size
	each, err := tile.Occupancy(v.Threads, bytes)
	if err != nil {
		return err
	}
	grid := min(max(each, 1)*max(c.dev.Props().Units, 1), s.shared.ShareCount)
	if grid < s.shared.ShareCount {
		if err := pl.taken.Zero(); err != nil {
			return err
		}
	}
	return tile.Launch(int64(grid), v.Threads, bytes,
		device.Value(int32(s.shared.ShareCount)), device.Value(int32(s.shared.Width)), device.Value(int32(s.shared.Columns)), device.Value(int32(c.a.cols)),
		s.shared.Shares.Arg(), s.shared.Items.Arg(), s.shared.Cols.Arg(), s.shared.Local.Arg(), pl.taken.Arg(), pl.dots.Arg(),
		c.a.from(0), device.Value(int32(c.a.bytes)), c.b.from(0), device.Value(int32(c.b.bytes)))
}

// launchDense launches the kernel that makes all products of dense panels.
func (pl *Plan[T]) launchDense(c *launchCall[T], s *pattern.Shared) error {
	kernel, err := pl.kernels.Load(c.dev, kernels.Dense(c.a.elem))
	if err != nil {
		return err
	}
	rows := min(s.Height, pl.pat.Rows)
	cells := s.Dense.Len() / 4
	band := kernels.DenseBand(rows, cells, c.dev.Props().Units)
	bands := dialect.Blocks(int64(rows), int64(band))
	return kernel.Launch(cells*bands, kernels.DenseThreads, kernels.DenseBytes,
		device.Value(int32(bands)), device.Value(int32(band)), device.Value(int32(s.Columns)), device.Value(int32(c.a.cols)),
		s.Dense.Arg(), s.Cols.Arg(), s.Local.Arg(), pl.dots.Arg(),
		c.a.from(0), device.Value(int32(c.a.bytes)), c.b.from(0), device.Value(int32(c.b.bytes)))
}

// reserve makes room for n dot products, and the counter.
func (pl *Plan[T]) reserve(n int64) error {
	if pl.taken == nil {
		taken, err := device.Alloc[int32](pl.pat.Device(), 1)
		if err != nil {
			return err
		}
		pl.taken = taken
	}
	return pl.reserveDots(n)
}

// reserveDots makes room for n dot products.
func (pl *Plan[T]) reserveDots(n int64) error {
	if pl.dots != nil && pl.dots.Len() >= n {
		return nil
	}
	if err := pl.dots.Close(); err != nil {
		return err
	}
	pl.dots = nil
	dots, err := device.Alloc[T](pl.pat.Device(), n)
	if err != nil {
		return fmt.Errorf("sddmm.Run: dot products that are not complete, or in the order of panels: %w", err)
	}
	pl.dots = dots
	return nil
}
