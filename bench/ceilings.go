package bench

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// MeasureRoofline measures what a device can do:
//
//	flops   the faster of SDDMM and SpMM on operands that stay in the L1 cache; at least two
//	        for each element that the L1 cache gave in the next measurement, which other
//	        programs disturb less
//	memory  what the device measured of itself (device.Measurer), the better of two loops at each
//	        point: SDDMM's own, and one that touches each cache line once, whatever the
//	        instruction set
//
// A GPU has the rates at which it reads and copies arrays that no cache holds; how fast it gathers is measured
// with each case, see Options.Gather.
//
// A device that does not measure itself has no memory ceilings. Bandwidths are kept in the user's cache
// folder, so that only the first call on a machine takes seconds.
func MeasureRoofline[T sddmm.Float](ctx context.Context, dev device.Device) (Roofline, error) {
	r := Roofline{Threads: max(dev.Props().Threads, 1)}
	var err error
	if launcher, ok := dev.(device.Launcher); ok {
		err := measureStreams(ctx, launcher, streamBytes(dev.Props()), &r)
		return r, err
	}
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
	if len(r.Memory.Levels) > 0 {
		const row = 512 // bytes
		elements := row / float64(unsafe.Sizeof(T(0)))
		r.Flops = max(r.Flops, 2*elements*float64(r.Threads)/r.Memory.GatherSeconds(0, row, r.Threads))
	}
	return r, nil
}

// Machine returns a device as the model sees it, for predictions beside measurements. What is not yet
// known of the device is measured.
func Machine(ctx context.Context, dev device.Device) (*model.Machine, error) {
	return pattern.Machine(ctx, dev, dev.Props().Threads)
}

// better returns the higher rate and capacity at each point of two measurements of a device.
func better(a, b device.Measured) device.Measured {
	if len(a.Levels) != len(b.Levels) {
		return a
	}
	a.Loop += ", " + b.Loop
	a.Reach = max(a.Reach, b.Reach)
	a.Levels = slices.Clone(a.Levels)
	for i := range a.Levels {
		l, other := &a.Levels[i], b.Levels[i]
		l.Bytes = max(l.Bytes, other.Bytes)
		l.Gather, l.Spread = faster(l.Gather, other.Gather), faster(l.Spread, other.Spread)
		l.Stream = faster([]device.Rate{l.Stream}, []device.Rate{other.Stream})[0]
	}
	return a
}

// faster returns rates of a, or those of b for the same length where they are higher.
func faster(a, b []device.Rate) []device.Rate {
	a = slices.Clone(a)
	for i := range a {
		if i < len(b) && a[i].RowBytes == b[i].RowBytes {
			a[i].One, a[i].All = max(a[i].One, b[i].One), max(a[i].All, b[i].All)
		}
	}
	return a
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
