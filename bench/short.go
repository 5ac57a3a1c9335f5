package bench

import (
	"context"
	"errors"
	"fmt"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/internal/parallel"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/spmm"
)

// shorts are the types that Case.Stored names.
var shorts = map[string]shortType{"bfloat16": short[device.BFloat16]{}, "float16": short[device.Float16]{}}

// shortType is an element type of 16 bits.
type shortType interface {
	round(x []float32)                                                                  // to the nearest of its numbers
	place(dev device.Device, c Case, a, b dense.Matrix[float32]) (shortOperands, error) // a for SDDMM only
}

// shortOperands are A and B in 16 bits on a device.
type shortOperands interface {
	sddmm(op *operation[float32], plan *sddmm.Plan[float32], c Case, o *Placed[float32]) // makes op call the plan
	spmm(op *operation[float32], plan *spmm.Plan[float32], form spmm.Op, o *Placed[float32])
	rows() bRows
	Close() error
}

// bRows is B as kernels take it.
type bRows struct {
	elem    string
	k       int
	aligned bool
	buf     device.Arg
	stride  device.Arg
}

func bRowsOf[E device.Real](b *dense.Resident[E]) bRows {
	if b == nil {
		return bRows{}
	}
	return bRows{dialect.TypeOf[E](), b.Cols, b.Aligned(), b.Buf.Arg(), device.Value(int64(b.Stride))}
}

// round rounds an operand to what its type holds, so that the reference multiplies the same numbers.
func (p *problem[T]) round(m dense.Matrix[T]) {
	if s := shorts[p.c.Stored]; s != nil {
		s.round(any(m.Data).([]float32))
	}
}

type short[E device.Short] struct{}

func (short[E]) round(x []float32) {
	parallel.Ranges(0, int64(len(x)), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			x[i] = device.ToShort[E](x[i]).Float32()
		}
	})
}

func (short[E]) place(dev device.Device, c Case, a, b dense.Matrix[float32]) (shortOperands, error) {
	o := &shortPair[E]{}
	var err error
	if o.b, err = dense.Upload(dev, dense.Rounded[E](b)); err != nil {
		return nil, fmt.Errorf("operand B: %w", err)
	}
	if c.Op == SDDMM {
		if o.a, err = dense.Upload(dev, dense.Rounded[E](a)); err != nil {
			return nil, fmt.Errorf("operand A: %w", errors.Join(err, o.b.Close()))
		}
	}
	return o, nil
}

type shortPair[E device.Short] struct{ a, b *dense.Resident[E] }

func (s *shortPair[E]) rows() bRows { return bRowsOf(s.b) }

func (s *shortPair[E]) Close() error { return errors.Join(s.a.Close(), s.b.Close()) }

func (s *shortPair[E]) sddmm(op *operation[float32], plan *sddmm.Plan[float32], c Case, o *Placed[float32]) {
	op.call = func(ctx context.Context) error {
		return sddmm.RunMixed(ctx, plan, c.Epilogue, 1, o.Values, s.a, s.b, 0, o.Out)
	}
	op.tile = func(context.Context) (model.Tile, bool, error) {
		t, settled := sddmm.MixedTile[E](plan, c.K)
		return t, settled, nil
	}
	op.kernel = func() string { return sddmm.Kernel(plan, s.a, s.b) }
}

func (s *shortPair[E]) spmm(op *operation[float32], plan *spmm.Plan[float32], form spmm.Op, o *Placed[float32]) {
	c := o.C()
	op.call = func(ctx context.Context) error { return spmm.RunMixed(ctx, plan, form, 1, o.Values, s.b, 0, c) }
	op.kernel = func() string { return spmm.Kernel(plan, form, s.b, c) }
}
