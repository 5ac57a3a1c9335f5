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
	poison func() error        // sets the result to NaN, or to mark
	result func() ([]T, error) // on the host
	close  func() error
	// tile returns the tile in use, and whether it will stay. nil where there are no tiles.
	tile func(ctx context.Context) (t model.Tile, settled bool, err error)
	set  func(t model.Tile) error // makes the calls to come use a tile

	mark   T               // what poison sets the result to, if not NaN, where results are known to be other numbers
	varies bool            // results may differ in rounding from call to call
	kernel func() string   // names what runs on a GPU, where it is known; it plans as calls do, which are timed, so it is asked after them
	sets   []*operation[T] // what calls go to in turn, each with operands of its own; nil for one
}

// Placed are the operands of a case on a device, as implementations take them.
type Placed[T sddmm.Float] struct {
	Pattern *pattern.Resident
	Values  *device.Buffer[T]  // of S, in the pattern's order
	A, B    *dense.Resident[T] // A for SDDMM only
	Out     *device.Buffer[T]  // SDDMM: a value per non-zero; otherwise the rows of C, one after the other

	short  shortOperands                // instead of A and B, where those are of 16 bits
	opened []interface{ Close() error } // what belongs to it alone
}

// Close frees what belongs to the operands alone.
func (o *Placed[T]) Close() error {
	var errs []error
	for i := len(o.opened) - 1; i >= 0; i-- {
		errs = append(errs, o.opened[i].Close())
	}
	o.opened = nil
	return errors.Join(errs...)
}

// C is the result of SpMM as a matrix.
func (o *Placed[T]) C() *dense.Resident[T] {
	rows, k := 0, 0
	if o.short != nil {
		k = o.short.rows().k
	} else {
		k = o.B.Cols
	}
	if k > 0 {
		rows = int(o.Out.Len() / int64(k))
	}
	return &dense.Resident[T]{Rows: rows, Cols: k, Stride: k, Buf: o.Out}
}

// place puts the operands of a problem on a device, where its pattern already is. values are those of S, or nil
// where they are not there yet.
func (p *problem[T]) place(dev device.Device, pat *pattern.Resident, values *device.Buffer[T]) (o *Placed[T], err error) {
	o = &Placed[T]{Pattern: pat, Values: values}
	defer func() {
		if err != nil {
			err = errors.Join(p.named(err), o.Close())
		}
	}()
	if values == nil {
		if o.Values, err = device.Place(dev, p.m.S.Val); err != nil {
			return o, fmt.Errorf("the values: %w", err)
		}
		o.opened = append(o.opened, o.Values)
	}
	if p.c.Stored != "" {
		if o.short, err = shorts[p.c.Stored].place(dev, p.c, any(p.a).(dense.Matrix[float32]), any(p.b).(dense.Matrix[float32])); err != nil {
			return o, err
		}
		o.opened = append(o.opened, o.short)
	} else {
		if o.B, err = dense.Place(dev, p.b); err != nil {
			return o, fmt.Errorf("operand B: %w", err)
		}
		o.opened = append(o.opened, o.B)
		if p.c.Op == SDDMM {
			if o.A, err = dense.Place(dev, p.a); err != nil {
				return o, fmt.Errorf("operand A: %w", err)
			}
			o.opened = append(o.opened, o.A)
		}
	}
	if o.Out, err = device.Alloc[T](dev, p.out); err != nil {
		return o, fmt.Errorf("the result: %w", err)
	}
	o.opened = append(o.opened, o.Out)
	return o, nil
}

// named says which case an error is of.
func (p *problem[T]) named(err error) error {
	return fmt.Errorf("%s of %s with K = %d: %w", p.c.Op, p.m.Name, p.c.K, err)
}

// ours puts the operands of a problem on a device, where its pattern already is, and plans the operation.
func ours[T sddmm.Float](dev device.Device, p *problem[T], pat *pattern.Resident, tiling Tiling) (*operation[T], error) {
	o, err := p.place(dev, pat, nil)
	if err != nil {
		return nil, err
	}
	op, err := withPlan(p, o, tiling)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	plan := op.close
	op.close = func() error { return errors.Join(plan(), o.Close()) }
	return op, nil
}

// withPlan plans the operation on operands that are in place, which stay the caller's.
func withPlan[T sddmm.Float](p *problem[T], o *Placed[T], tiling Tiling) (op *operation[T], err error) {
	op = &operation[T]{poison: func() error { return fillWith(o.Out, nan[T]()) }, result: reader(o.Out, nil), mark: nan[T]()}
	defer func() {
		if err != nil {
			err = p.named(err)
		}
	}()
	_, launches := o.Out.Device().(device.Launcher)
	if p.c.Op == SDDMM {
		plan, err := sddmm.NewPlan[T](o.Pattern)
		if err != nil {
			return nil, err
		}
		if tiling.fixed() {
			if err := plan.SetTile(tiling.Tile); err != nil {
				return nil, errors.Join(err, plan.Close())
			}
		}
		op.close = plan.Close
		op.set = plan.SetTile
		if o.short != nil {
			o.short.sddmm(any(op).(*operation[float32]), any(plan).(*sddmm.Plan[float32]), p.c, any(o).(*Placed[float32]))
			return op, nil
		}
		op.call = func(ctx context.Context) error {
			return plan.Run(ctx, p.c.Epilogue, 1, o.Values, o.A, o.B, 0, o.Out)
		}
		op.tile = func(context.Context) (model.Tile, bool, error) {
			t, settled := plan.Tile(p.c.K)
			return t, settled, nil
		}
		if launches {
			op.kernel = func() string { return sddmm.Kernel(plan, o.A, o.B) }
		}
		return op, nil
	}
	form := spmm.NoTrans
	if p.c.Op == SpMMT {
		form = spmm.Trans
	}
	plan, err := spmm.NewPlan[T](o.Pattern)
	if err != nil {
		return nil, err
	}
	if tiling.fixed() {
		if err := plan.SetTile(tiling.Tile); err != nil {
			return nil, errors.Join(err, plan.Close())
		}
	}
	c := o.C()
	op.close = plan.Close
	op.set = plan.SetTile
	if o.short != nil {
		o.short.spmm(any(op).(*operation[float32]), any(plan).(*spmm.Plan[float32]), form, any(o).(*Placed[float32]))
		return op, nil
	}
	op.call = func(ctx context.Context) error { return plan.Run(ctx, form, 1, o.Values, o.B, 0, c) }
	if launches {
		op.kernel = func() string { return spmm.Kernel(plan, form, o.B, c) }
		return op, nil
	}
	op.tile = func(context.Context) (model.Tile, bool, error) {
		t, settled := plan.Tile(form, p.c.K)
		return t, settled, nil
	}
	return op, nil
}

// inTurn returns an operation whose calls go to ops one after the other.
func inTurn[T sddmm.Float](ops []*operation[T]) *operation[T] {
	if len(ops) == 1 {
		return ops[0]
	}
	next := 0
	return &operation[T]{
		sets: ops, kernel: ops[0].kernel, tile: ops[0].tile,
		call: func(ctx context.Context) error {
			next = (next + 1) % len(ops)
			return ops[next].call(ctx)
		},
		close: func() error {
			var errs []error
			for _, op := range ops {
				errs = append(errs, op.close())
			}
			return errors.Join(errs...)
		},
	}
}

// each are the operations that calls go to.
func (op *operation[T]) each() []*operation[T] {
	if op.sets != nil {
		return op.sets
	}
	return []*operation[T]{op}
}

func nan[T sddmm.Float]() T { return T(math.NaN()) }

func setNaN[T sddmm.Float](x []T) {
	for i := range x {
		x[i] = nan[T]()
	}
}

// fillElements is what fillWith uploads; the device doubles it.
const fillElements = 1 << 18

// fillWith sets all elements of a buffer to x.
func fillWith[T sddmm.Float](buf *device.Buffer[T], x T) error {
	n := buf.Len()
	to := buf.Host()
	if to == nil {
		to = make([]T, min(n, fillElements))
	}
	for i := range to {
		to[i] = x
	}
	if buf.Host() != nil || n == 0 {
		return nil
	}
	done := int64(len(to))
	if err := buf.View(0, done).Upload(to); err != nil {
		return err
	}
	for ; done < n; done *= 2 {
		more := min(done, n-done)
		if err := buf.View(done, done+more).CopyFrom(buf.View(0, more)); err != nil {
			return err
		}
	}
	return nil
}

// reader returns a function that returns what a buffer holds, until it is called again. A device's memory is copied
// to *scratch, which grows with the need; nil has memory of its own.
func reader[T sddmm.Float](buf *device.Buffer[T], scratch *[]T) func() ([]T, error) {
	if scratch == nil {
		scratch = new([]T)
	}
	return func() ([]T, error) {
		if x := buf.Host(); x != nil {
			return x, nil
		}
		if n := buf.Len(); int64(cap(*scratch)) < n {
			*scratch = nil // before the new one, so that there are not both
			*scratch = make([]T, n)
		}
		x := (*scratch)[:buf.Len()]
		return x, buf.Download(x)
	}
}
