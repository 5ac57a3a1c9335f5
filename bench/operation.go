package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/spmm"
)

// operation is something that computes the result of a problem over and over.
type operation[T sddmm.Float] struct {
	call   func(ctx context.Context) error
	poison func() error        // sets the result to NaN
	result func() ([]T, error) // on the host
	close  func() error
	// tile returns the tile in use, and whether it will stay. nil where there are no tiles.
	tile func(ctx context.Context) (t model.Tile, settled bool, err error)
	set  func(t model.Tile) error // makes the calls to come use a tile
}

// ours puts the operands of a problem on a device, where its pattern already is, and plans the operation.
func ours[T sddmm.Float](dev device.Device, p *problem[T], pat *pattern.Resident, tiling Tiling) (op *operation[T], err error) {
	var opened []interface{ Close() error }
	closeAll := func() error {
		var errs []error
		for i := len(opened) - 1; i >= 0; i-- {
			errs = append(errs, opened[i].Close())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s of %s with K = %d: %w", p.c.Op, p.m.Name, p.c.K, err), closeAll())
		}
	}()
	s := p.m.S
	values, err := device.Place(dev, s.Val)
	if err != nil {
		return nil, err
	}
	opened = append(opened, values)
	b, err := dense.Place(dev, p.b)
	if err != nil {
		return nil, fmt.Errorf("operand B: %w", err)
	}
	opened = append(opened, b)
	out, err := device.Alloc[T](dev, p.out)
	if err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	opened = append(opened, out)
	op = &operation[T]{close: closeAll}
	op.poison, op.result = poisoner(out), reader(out)

	if p.c.Op == SDDMM {
		a, err := dense.Place(dev, p.a)
		if err != nil {
			return nil, fmt.Errorf("operand A: %w", err)
		}
		opened = append(opened, a)
		plan, err := sddmm.NewPlan[T](pat)
		if err != nil {
			return nil, err
		}
		if tiling.fixed() {
			if err := plan.SetTile(tiling.Tile); err != nil {
				return nil, err
			}
		}
		op.set = plan.SetTile
		op.tile = func(context.Context) (model.Tile, bool, error) {
			t, settled := plan.Tile(p.c.K)
			return t, settled, nil
		}
		op.call = func(ctx context.Context) error { return plan.Run(ctx, p.c.Epilogue, 1, values, a, b, 0, out) }
		return op, nil
	}
	form, rows := spmm.NoTrans, s.Rows
	if p.c.Op == SpMMT {
		form, rows = spmm.Trans, s.Cols
	}
	plan, err := spmm.NewPlan[T](pat)
	if err != nil {
		return nil, err
	}
	opened = append(opened, plan)
	if tiling.fixed() {
		if err := plan.SetTile(tiling.Tile); err != nil {
			return nil, err
		}
	}
	op.set = plan.SetTile
	op.tile = func(context.Context) (model.Tile, bool, error) {
		t, settled := plan.Tile(form, p.c.K)
		return t, settled, nil
	}
	c := &dense.Resident[T]{Rows: rows, Cols: p.c.K, Stride: p.c.K, Buf: out}
	op.call = func(ctx context.Context) error { return plan.Run(ctx, form, 1, values, b, 0, c) }
	return op, nil
}

// poisoner returns a function that fills a buffer with NaN.
func poisoner[T sddmm.Float](buf *device.Buffer[T]) func() error {
	return func() error {
		x := buf.Host()
		if x == nil {
			x = make([]T, buf.Len())
		}
		setNaN(x)
		if buf.Host() != nil {
			return nil
		}
		return buf.Upload(x)
	}
}

func setNaN[T sddmm.Float](x []T) {
	for i := range x {
		x[i] = T(math.NaN())
	}
}

// reader returns a function that returns what a buffer holds.
func reader[T sddmm.Float](buf *device.Buffer[T]) func() ([]T, error) {
	return func() ([]T, error) {
		if x := buf.Host(); x != nil {
			return x, nil
		}
		x := make([]T, buf.Len())
		return x, buf.Download(x)
	}
}
