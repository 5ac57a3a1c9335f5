package bench

import (
	"context"
	"fmt"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// MeasureRoofline measures what a device can do:
//
//	flops   the faster of SDDMM and SpMM on operands that stay in the L1 cache
//	memory  what the device measured of itself (device.Measurer), the better of two loops at each
//	        point: SDDMM's own, and one that touches each cache line once, whatever the
//	        instruction set
//
// A device that does not measure itself has no memory ceilings. Bandwidths are kept in the user's cache
// folder, so that only the first call on a machine takes seconds.
func MeasureRoofline[T sddmm.Float](ctx context.Context, dev device.Device) (Roofline, error) {
	r := Roofline{Threads: max(dev.Props().Threads, 1)}
	var err error
	if r.Flops, err = peakFlops[T](ctx, dev); err != nil {
		return Roofline{}, err
	}
	self, ok := dev.(device.Measurer)
	if !ok {
		return r, nil
	}
	own, err := self.Measure(ctx, sddmm.Gather())
	if err != nil {
		return Roofline{}, err
	}
	lines, err := self.Measure(ctx, device.Gather{})
	if err != nil {
		return Roofline{}, err
	}
	r.Memory = better(own, lines)
	return r, nil
}

// Machine returns a device as the model sees it, for predictions beside measurements. What is not yet
// known of the device is measured.
func Machine(ctx context.Context, dev device.Device) (*model.Machine, error) {
	props := dev.Props()
	var measured device.Measured
	if self, ok := dev.(device.Measurer); ok {
		var err error
		if measured, err = self.Measure(ctx, sddmm.Gather()); err != nil {
			return nil, err
		}
	}
	return model.NewMachine(props, measured, max(props.Threads, 1)), nil
}

// better returns the higher rate and capacity at each point of two measurements of a device.
func better(a, b device.Measured) device.Measured {
	if len(a.Levels) != len(b.Levels) {
		return a
	}
	faster := func(x, y device.Rate) device.Rate {
		if x.RowBytes == y.RowBytes {
			x.One, x.All = max(x.One, y.One), max(x.All, y.All)
		}
		return x
	}
	out := device.Measured{Threads: a.Threads, Loop: a.Loop + ", " + b.Loop}
	for i, l := range a.Levels {
		other := b.Levels[i]
		if other.Name != l.Name || len(other.Gather) != len(l.Gather) {
			return a
		}
		better := device.Level{Name: l.Name, Bytes: max(l.Bytes, other.Bytes), Shared: l.Shared, Stream: faster(l.Stream, other.Stream)}
		for k := range l.Gather {
			better.Gather = append(better.Gather, faster(l.Gather[k], other.Gather[k]))
		}
		out.Levels = append(out.Levels, better)
	}
	return out
}

// peakSampling takes many short samples, of which the fastest counts: other programs hardly get in the
// way of all of them.
var peakSampling = Sampling{Seconds: 0.1, sample: 50e-6}

// peakFlops returns the flops per second of the faster primitive where B stays in the L1 cache.
func peakFlops[T sddmm.Float](ctx context.Context, dev device.Device) (float64, error) {
	const rows, k = 32768, 128                        // enough rows that waking threads does not count
	cols := 24 << 10 / (k * int(unsafe.Sizeof(T(0)))) // rows of B, 24 KiB in all
	s := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, rows*cols)}, Val: make([]T, rows*cols)}
	for i := range rows {
		s.RowPtr[i+1] = int64((i + 1) * cols)
		for j := range cols {
			s.ColIdx[i*cols+j], s.Val[i*cols+j] = int32(j), 1
		}
	}
	m, err := NewMatrix("ceiling", s)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, op := range []Op{SDDMM, SpMM} {
		rec, err := Run(ctx, dev, m, Case{Op: op, K: k, Tiling: Tiling{By: TileNone}}, Options{Sampling: peakSampling})
		if err != nil {
			return 0, fmt.Errorf("measuring the peak: %w", err)
		}
		best = max(best, float64(rec.Flops)/rec.Min)
	}
	return best, nil
}
