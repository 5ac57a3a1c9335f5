package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sddmmkit/device"
)

// Device is the suite of a device's memory, queue and, on a Host, workers.
func Device(t *testing.T, open func(t *testing.T) device.Device) {
	t.Run("Props", func(t *testing.T) { props(t, start(t, open)) })
	t.Run("Buffers", func(t *testing.T) {
		dev := start(t, open)
		buffers[float32](t, dev)
		buffers[float64](t, dev)
		buffers[int32](t, dev)
		buffers[int64](t, dev)
		buffers[uint8](t, dev)
		buffers[uint16](t, dev)
		buffers[uint32](t, dev)
		buffers[uint64](t, dev)
	})
	t.Run("Usage", func(t *testing.T) { usage(t, start(t, open)) })
	t.Run("Lengths", func(t *testing.T) { bufferLengths(t, start(t, open)) })
	t.Run("Closed", func(t *testing.T) { closedBuffers(t, start(t, open)) })
	t.Run("OtherDevice", func(t *testing.T) {
		dev := start(t, open)
		otherDeviceBuffers(t, dev, otherDevice(t, open, dev))
	})
	t.Run("OutOfMemory", func(t *testing.T) { outOfMemory(t, start(t, open)) })
	failEach(t, open, 3, 5, deviceScenario)
	t.Run("Stream", func(t *testing.T) { streams(t, start(t, open)) })
	t.Run("Concurrent", func(t *testing.T) { concurrentBuffers(t, start(t, open)) })
	t.Run("Run", func(t *testing.T) {
		h, ok := start(t, open).(device.Host)
		if !ok {
			t.Skip("not a Host")
		}
		runUnits(t, h)
	})
}

// deviceScenario returns the first error of a few allocations and transfers.
func deviceScenario(dev device.Device) error {
	a, err := device.FromHost(dev, []int32{1, 2, 3})
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := device.Alloc[int32](dev, 3)
	if err != nil {
		return err
	}
	defer b.Close()
	c, err := device.FromHost(dev, []float64{1})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := b.Zero(); err != nil {
		return err
	}
	if err := b.CopyFrom(a); err != nil {
		return err
	}
	return b.Download(make([]int32, 3))
}

func props(t *testing.T, dev device.Device) {
	p := dev.Props()
	if dev.Name() == "" || p.Name != dev.Name() {
		t.Errorf("Name is %q and Props().Name is %q, want the same name", dev.Name(), p.Name)
	}
	if dev.Kind() == "" || p.Kind != dev.Kind() {
		t.Errorf("Kind is %q and Props().Kind is %q, want the same kind", dev.Kind(), p.Kind)
	}
	if p.Units < 1 {
		t.Errorf("%d units, want at least 1", p.Units)
	}
	if p.MemoryBytes < 0 || p.LineBytes < 0 || p.L1Bytes < 0 || p.L2Bytes < 0 || p.L3Bytes < 0 {
		t.Errorf("a negative size in %+v", p)
	}
	if h, ok := dev.(device.Host); ok && (h.Threads() < 1 || p.Threads != h.Threads()) {
		t.Errorf("Threads is %d and Props().Threads is %d, want the same number from 1 up", h.Threads(), p.Threads)
	}
}

// count returns 1, 2, …, n, as far as T goes.
func count[T device.Elem](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i + 1)
	}
	return out
}

func download[T device.Elem](t *testing.T, b *device.Buffer[T]) []T {
	t.Helper()
	out := make([]T, b.Len())
	must(t, b.Download(out))
	return out
}

func buffers[T device.Elem](t *testing.T, dev device.Device) {
	t.Helper()
	for _, n := range []int{0, 1, 3, 63, 64, 65, 1000} {
		what := fmt.Sprintf("%T × %d", T(0), n)
		src := count[T](n)
		b, err := device.FromHost(dev, src)
		must(t, err)
		if b.Device() != dev || b.Len() != int64(n) {
			t.Errorf("%s: %d elements on %s", what, b.Len(), b.Device().Name())
		}
		if got := download(t, b); !slices.Equal(got, src) {
			t.Errorf("%s: came back as %v", what, got)
		}
		if mem, first := b.Memory(); first != 0 || mem.Bytes() < b.Len()*int64(sizeOf[T]()) {
			t.Errorf("%s: memory of %d bytes, from element %d", what, mem.Bytes(), first)
		}

		c, err := device.Alloc[T](dev, int64(n))
		must(t, err)
		must(t, c.CopyFrom(b))
		if got := download(t, c); !slices.Equal(got, src) {
			t.Errorf("%s: copied as %v", what, got)
		}
		must(t, c.Zero())
		if got := download(t, c); slices.ContainsFunc(got, func(v T) bool { return v != 0 }) {
			t.Errorf("%s: zeroed to %v", what, got)
		}
		if got := download(t, b); !slices.Equal(got, src) {
			t.Errorf("%s: zeroing the copy changed the original", what)
		}
		views(t, what, b, c)
		must(t, b.Close())
		must(t, c.Close())

		placed, err := device.Place(dev, src)
		must(t, err)
		if got := download(t, placed); !slices.Equal(got, src) {
			t.Errorf("%s: placed as %v", what, got)
		}
		host := placed.Host()
		if _, isHost := dev.(device.Host); isHost && n > 0 && (len(host) != n || &host[0] != &src[0]) {
			t.Errorf("%s: Place on a Host made a copy", what)
		} else if !isHost && host != nil {
			t.Errorf("%s: memory that the host cannot address came as a slice", what)
		}
		must(t, placed.Close())
	}
}

func sizeOf[T device.Elem]() int {
	switch any(T(0)).(type) {
	case uint8:
		return 1
	case uint16:
		return 2
	case float32, int32, uint32:
		return 4
	}
	return 8
}

// views checks that operations on [lo, hi) of a buffer leave the rest alone. b counts up.
func views[T device.Elem](t *testing.T, what string, b, c *device.Buffer[T]) {
	t.Helper()
	n := b.Len()
	src := download(t, b)
	for _, r := range [][2]int64{{0, 0}, {0, n}, {n, n}, {n / 3, n/3 + n/2}, {n - n/4, n}} {
		lo, hi := r[0], r[1]
		must(t, c.CopyFrom(b))
		v := c.View(lo, hi)
		if got := download(t, v); !slices.Equal(got, src[lo:hi]) {
			t.Errorf("%s: view [%d,%d) holds %v", what, lo, hi, got)
		}
		must(t, v.Zero())
		want := slices.Clone(src)
		clear(want[lo:hi])
		if got := download(t, c); !slices.Equal(got, want) {
			t.Errorf("%s: zeroing view [%d,%d) gave %v", what, lo, hi, got)
		}
		must(t, v.Upload(src[:hi-lo]))
		copy(want[lo:hi], src)
		if got := download(t, c); !slices.Equal(got, want) {
			t.Errorf("%s: uploading to view [%d,%d) gave %v", what, lo, hi, got)
		}
		must(t, v.CopyFrom(b.View(n-(hi-lo), n)))
		copy(want[lo:hi], src[n-(hi-lo):])
		if got := download(t, c); !slices.Equal(got, want) {
			t.Errorf("%s: copying to view [%d,%d) gave %v", what, lo, hi, got)
		}
		w := v.View((hi-lo)/2, hi-lo)
		if got := download(t, w); !slices.Equal(got, want[lo+(hi-lo)/2:hi]) {
			t.Errorf("%s: a view of view [%d,%d) holds %v", what, lo, hi, got)
		}
		must(t, v.Close())
		if c.Closed() || v.Closed() {
			t.Fatalf("%s: closing a view closed the memory", what)
		}
	}
	for _, r := range [][2]int64{{-1, 0}, {0, n + 1}, {1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: view [%d,%d) of %d elements did not panic", what, r[0], r[1], n)
				}
			}()
			b.View(r[0], r[1])
		}()
	}
}

func usage(t *testing.T, dev device.Device) {
	checkNoLeak(t, dev)
	a, err := device.Alloc[float64](dev, 1000)
	must(t, err)
	b, err := device.Alloc[uint8](dev, 7)
	must(t, err)
	if u := dev.Usage(); u.Buffers != 2 || u.Bytes < 8007 {
		t.Errorf("%d buffers with %d bytes are open, want 2 with at least 8007", u.Buffers, u.Bytes)
	}
	must(t, a.Close())
	must(t, a.Close())
	if u := dev.Usage(); u.Buffers != 1 || u.Bytes < 7 || u.Bytes >= 8000 {
		t.Errorf("after closing one buffer twice, %d buffers with %d bytes are open, want 1 with at least 7", u.Buffers, u.Bytes)
	}
	must(t, b.Close())
	checkNoLeak(t, dev)
	var none *device.Buffer[int32]
	must(t, none.Close())
}

func bufferLengths(t *testing.T, dev device.Device) {
	b, err := device.FromHost(dev, count[int32](5))
	must(t, err)
	defer b.Close()
	short, err := device.Alloc[int32](dev, 4)
	must(t, err)
	defer short.Close()
	wantShape(t, "Upload of 4", b.Upload(make([]int32, 4)), "5", "4")
	wantShape(t, "Download to 6", b.Download(make([]int32, 6)), "5", "6")
	wantShape(t, "CopyFrom 4", b.CopyFrom(short), "5", "4")
	if got := download(t, b); !slices.Equal(got, count[int32](5)) {
		t.Errorf("a refused copy changed the buffer to %v", got)
	}
}

func closedBuffers(t *testing.T, dev device.Device) {
	b, err := device.FromHost(dev, count[int32](5))
	must(t, err)
	view := b.View(1, 3)
	other, err := device.FromHost(dev, count[int32](5))
	must(t, err)
	defer other.Close()
	must(t, b.Close())
	if !b.Closed() || !view.Closed() {
		t.Error("a closed buffer or a view of it says that it is open")
	}
	five, two := make([]int32, 5), make([]int32, 2)
	wantIs(t, "Upload", b.Upload(five), device.ErrClosed)
	wantIs(t, "Download", b.Download(five), device.ErrClosed)
	wantIs(t, "Zero", b.Zero(), device.ErrClosed)
	wantIs(t, "CopyFrom to it", b.CopyFrom(other), device.ErrClosed)
	wantIs(t, "CopyFrom of it", other.CopyFrom(b), device.ErrClosed)
	wantIs(t, "Upload to a view", view.Upload(two), device.ErrClosed)
	wantIs(t, "Download of a view", view.Download(two), device.ErrClosed)
	wantIs(t, "Zero of a view", view.Zero(), device.ErrClosed)
	wantIs(t, "Check", device.Check("op", b.Operand("x")), device.ErrClosed)
	wantNil(t, "CopyFrom nil", other.CopyFrom(nil), "src")
	must(t, b.Close())
}

func otherDeviceBuffers(t *testing.T, dev, other device.Device) {
	a, err := device.FromHost(dev, count[int32](5))
	must(t, err)
	defer a.Close()
	b, err := device.FromHost(other, count[int32](5))
	must(t, err)
	defer b.Close()
	wantMismatch(t, "CopyFrom", a.CopyFrom(b), "dst", "src")
	wantMismatch(t, "Check", device.Check("op", a.Operand("x"), b.Operand("y")), "x", "y")
	must(t, device.Check("op", a.Operand("x"), a.Operand("y")))
}

func outOfMemory(t *testing.T, dev device.Device) {
	for _, n := range []int64{1 << 55, math.MaxInt64 / 8, math.MaxInt64/8 + 1, math.MaxInt64, -1, math.MinInt64} {
		b, err := device.Alloc[float64](dev, n)
		if err == nil {
			t.Errorf("%d elements were allocated", n)
			b.Close()
			continue
		}
		wantIs(t, fmt.Sprint(n, " elements"), err, device.ErrOutOfMemory)
		var e *device.Error
		if !errors.As(err, &e) || e.Device != dev.Name() && dev.Kind() != "remote" || e.Detail == "" {
			t.Errorf("%d elements: error %v, want a *device.Error with the device's name and sizes", n, err)
		}
	}
	checkNoLeak(t, dev)
}

func streams(t *testing.T, dev device.Device) {
	s := dev.Stream()
	before, err := s.Record()
	must(t, err)
	b, err := device.FromHost(dev, make([]float32, 1<<16))
	must(t, err)
	must(t, b.Zero())
	must(t, b.Close())
	after, err := s.Record()
	must(t, err)
	must(t, s.Synchronize())
	d, err := after.Since(before)
	must(t, err)
	if d < 0 || d > time.Minute {
		t.Errorf("the later event is %v after the earlier one", d)
	}
	must(t, before.Close())
	must(t, after.Close())
}

// concurrentBuffers uses the device from many goroutines, as its contract allows.
func concurrentBuffers(t *testing.T, dev device.Device) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 50 {
				src := count[int64](n + g)
				b, err := device.FromHost(dev, src)
				if err != nil {
					t.Error(err)
					return
				}
				got := make([]int64, len(src))
				if err := b.Download(got); err != nil || !slices.Equal(got, src) {
					t.Errorf("goroutine %d: came back as %v, %v", g, got, err)
				}
				b.Close()
			}
		})
	}
	wg.Wait()
}

func runUnits(t *testing.T, h device.Host) {
	for _, units := range []int{0, 1, 2, 7, 1000} {
		ran := make([]atomic.Int32, units)
		must(t, h.Run(context.Background(), units, func(u int) { ran[u].Add(1) }))
		for u := range ran {
			if n := ran[u].Load(); n != 1 {
				t.Errorf("unit %d of %d ran %d times", u, units, n)
			}
		}
	}
	cancelled(t, h, 100_000, func(ctx context.Context, dev device.Device) error {
		return dev.(device.Host).Run(ctx, 100_000, func(int) {})
	})
	defer func() {
		if r := recover(); r != "unit 3" {
			t.Errorf("a panic in a unit came out as %v", r)
		}
	}()
	_ = h.Run(context.Background(), 10, func(u int) {
		if u == 3 {
			panic("unit 3")
		}
	})
	t.Error("a panic in a unit was lost")
}
