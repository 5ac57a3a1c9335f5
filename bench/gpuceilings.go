package bench

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/bench/kernels"
	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/internal/errbound"
	"sddmmkit/internal/parallel"
	"sddmmkit/sddmm"
)

// ceilingSampling is for ceilings, of which the least time counts.
var ceilingSampling = Sampling{Warmups: 2, Samples: 5, Seconds: 0.02, warm: gpuWarm}

// measureStreams adds the rates at which a GPU reads and copies arrays of bytes bytes, or a little more.
func measureStreams(ctx context.Context, dev device.Launcher, bytes int64, r *Roofline) (err error) {
	blocks := max((bytes/4+kernels.BlockElements-1)/kernels.BlockElements, 1)
	n := blocks * kernels.BlockElements
	in, err := device.Alloc[float32](dev, n)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := device.Alloc[float32](dev, n)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := fillWith(in, 1); err != nil {
		return err
	}
	for _, c := range []struct {
		kernel *dialect.Variant
		sums   float32 // of each element of the result
		bytes  int64
		rate   *float64
	}{
		{kernels.Read(), kernels.WarpElements, 4 * n, &r.Read},
		{kernels.Copy(), 1, 8 * n, &r.Copy},
	} {
		kernel, err := c.kernel.Load(dev)
		if err != nil {
			return err
		}
		seconds, err := leastSeconds(ctx, dev, func() error { return kernel.Launch(blocks, kernels.Threads, 0, in.Arg(), out.Arg()) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.kernel.Name, err)
		}
		last := n/int64(c.sums) - 1
		for _, at := range []int64{0, last} {
			var got [1]float32
			if err := out.View(at, at+1).Download(got[:]); err != nil {
				return err
			}
			if got[0] != c.sums {
				return fmt.Errorf("%s on %s: element %d is %v, want %v", c.kernel.Name, dev.Name(), at, got[0], c.sums)
			}
		}
		*c.rate = float64(c.bytes) / seconds
	}
	return nil
}

// streamBytes is the size of arrays that no cache of a device holds.
func streamBytes(p device.Props) int64 {
	bytes := min(max(16*p.L2Bytes, 4*p.L3Bytes, 64<<20), 1<<30)
	if p.MemoryBytes > 0 {
		bytes = min(bytes, p.MemoryBytes/8)
	}
	return bytes
}

// leastSeconds returns the shortest time of a call.
func leastSeconds(ctx context.Context, dev device.Device, call func() error) (float64, error) {
	s, err := ceilingSampling.withDefaults()
	if err != nil {
		return 0, err
	}
	t, err := s.take(ctx, newTimer(dev), call)
	if err != nil {
		return 0, err
	}
	return record.Summarize(t.samples).Min, nil
}

// gatherKey is what the time of gathering depends on, beside the session's matrix and device.
type gatherKey struct {
	transposed bool
	k          int
	stored     string
}

// gatherSeconds returns the time in which a GPU reads the rows of B that the non-zeros of a case ask for and does
// nothing else: the fastest of several kernels, of the least time. It is 0 where there is nothing to read, or no
// ceilings are wanted.
func (s *Session[T]) gatherSeconds(ctx context.Context, dev device.Launcher, p *problem[T], o *Placed[T]) (float64, error) {
	if !s.opt.Gather || o.Pattern.NNZ == 0 {
		return 0, nil
	}
	key := gatherKey{p.c.Op == SpMMT, p.c.K, p.c.Stored}
	if seconds, ok := s.gathers[key]; ok {
		return seconds, nil
	}
	pat, err := s.pattern(p.c.Op)
	if err != nil {
		return 0, err
	}
	groups := (pat.NNZ + kernels.Run - 1) / kernels.Run
	out, err := device.Alloc[T](dev, groups)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	want := gatheredSum(p, pat.Host().ColIdx)
	best := math.Inf(1)
	b := bRowsOf(o.B)
	if o.short != nil {
		b = o.short.rows()
	}
	for _, g := range kernels.Gathers(b.elem, b.k, b.aligned) {
		kernel, err := g.Variant().Load(dev)
		if err != nil {
			return 0, err
		}
		if err := fillWith(out, nan[T]()); err != nil {
			return 0, err
		}
		blocks := (groups + g.Groups() - 1) / g.Groups()
		seconds, err := leastSeconds(ctx, dev, func() error {
			return kernel.Launch(blocks, kernels.Threads, 0, device.Value(pat.NNZ), device.Value(int32(b.k)),
				pat.ColIdx.Arg(), b.buf, b.stride, out.Arg())
		})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", g.Name(), err)
		}
		if err := checkGathered(out, want, kernels.Run*p.c.K, pat.NNZ); err != nil {
			return 0, fmt.Errorf("%s on %s: %w", g.Name(), dev.Name(), err)
		}
		best = min(best, seconds)
	}
	s.gathers[key] = best
	return best, nil
}

// gatheredSum is the sum of the rows of B that columns ask for.
func gatheredSum[T sddmm.Float](p *problem[T], cols []int32) float64 {
	rows := make([]float64, p.b.Rows)
	parallel.Ranges(0, int64(len(rows)), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			for _, x := range p.b.Row(int(i)) {
				rows[i] += float64(x)
			}
		}
	})
	parts := make([]float64, parallel.Threads(0))
	parallel.Ranges(len(parts), int64(len(cols)), func(part int, lo, hi int64) {
		sum := 0.0
		for _, j := range cols[lo:hi] {
			sum += rows[j]
		}
		parts[part] = sum
	})
	sum := 0.0
	for _, x := range parts {
		sum += x
	}
	return sum
}

// checkGathered compares the sum of what groups have read with what it must be. All elements are positive; each passed
// through at most n roundings on the device, and then through fewer than terms here.
func checkGathered[T sddmm.Float](out *device.Buffer[T], want float64, n int, terms int64) error {
	got := make([]T, out.Len())
	if err := out.Download(got); err != nil {
		return err
	}
	sum := 0.0
	for _, x := range got {
		sum += float64(x)
	}
	bound := (errbound.Gamma(n, errbound.Unit[T]()) + 2*errbound.Gamma(int(terms)+n, errbound.Unit[float64]())) * want
	if !(math.Abs(sum-want) <= bound) {
		return fmt.Errorf("the rows that were gathered add up to %v, want %v within %.3g", sum, want, bound)
	}
	return nil
}
