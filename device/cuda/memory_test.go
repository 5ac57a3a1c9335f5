package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sddmmkit/device"
)

// pattern returns n bytes that repeat nowhere near.
func pattern(n int, seed uint64) []byte {
	out := make([]byte, 0, n+8)
	for x := seed; len(out) < n; x++ {
		out = binary.LittleEndian.AppendUint64(out, (x+1)*0x9e3779b97f4a7c15)
	}
	return out[:n]
}

// Copies of all sizes around the limits of direct copies and chunks come back as they went, and touch nothing beside.
func TestCopies(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		const edge = 7
		size, direct := d.staging.size, d.staging.direct
		for _, n := range []int{1, direct, direct + 1, size - 1, size, size + 1, 2*size + 3, 3 * size, 5*size + 1} {
			m, err := d.Alloc(int64(n + 2*edge))
			if err != nil {
				t.Fatal(err)
			}
			guard, src := pattern(n+2*edge, 1), pattern(n, uint64(n))
			got := bytes.Repeat([]byte{0xEE}, n+2*edge)
			err = errors.Join(m.CopyFrom(0, guard), m.CopyFrom(edge, src), m.CopyTo(got[edge:edge+n], edge))
			if err != nil || !bytes.Equal(got[edge:edge+n], src) || !bytes.Equal(got[:edge], bytes.Repeat([]byte{0xEE}, edge)) || !bytes.Equal(got[edge+n:], bytes.Repeat([]byte{0xEE}, edge)) {
				t.Errorf("%d bytes came back differently, error %v", n, err)
			}
			copy(guard[edge:], src)
			if err := m.CopyTo(got, 0); err != nil || !bytes.Equal(got, guard) {
				t.Errorf("%d bytes: beside them things changed, error %v", n, err)
			}
			// The source may be used again as soon as the copy returns, and later work comes later.
			if err := errors.Join(m.CopyFrom(edge, src), m.Zero(0, 2*edge)); err != nil {
				t.Error(err)
			}
			clear(src)
			clear(guard[:2*edge])
			if err := m.CopyTo(got, 0); err != nil || !bytes.Equal(got, guard) {
				t.Errorf("%d bytes: not what was copied before the source changed, error %v", n, err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Large copies of several goroutines share the chunks and do not mix.
func TestCopiesAtTheSameTime(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				src := pattern(d.staging.size*3/2+g, uint64(g))
				for range 2 {
					b, err := device.FromHost(d, src)
					if err != nil {
						t.Error(err)
						return
					}
					got := make([]byte, len(src))
					if err := b.Download(got); err != nil || !bytes.Equal(got, src) {
						t.Errorf("goroutine %d: came back differently, error %v", g, err)
					}
					if err := b.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Two devices, and more goroutines than threads, each of which must find the context of its own device current.
func TestThreads(t *testing.T) {
	f := newFake()
	f.restless = true
	var wg sync.WaitGroup
	for number := range 2 {
		d, err := open(f, number)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, d)
		for range 4 {
			wg.Go(func() {
				for i := range 50 {
					b, err := device.FromHost(d, []int32{1, 2, int32(i)})
					if err != nil {
						t.Error(err)
						return
					}
					if err := errors.Join(b.Download(make([]int32, 3)), b.Close()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestOverlap(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		src := pattern(1000, 5)
		m, err := d.Alloc(1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, move := range [][3]int{{0, 1, 999}, {1, 0, 999}, {100, 300, 500}, {300, 100, 500}, {0, 0, 1000}, {0, 500, 500}, {500, 500, 0}} {
			to, from, n := move[0], move[1], move[2]
			want := slices.Clone(src)
			copy(want[to:to+n], src[from:from+n])
			got := make([]byte, 1000)
			err := errors.Join(m.CopyFrom(0, src), m.CopyOnDevice(int64(to), m, int64(from), int64(n)), m.CopyTo(got, 0))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes from %d to %d: error %v", n, from, to, err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRanges(t *testing.T) {
	d := closing(t, openFake(t, newFake()))
	m, err := d.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"beyond the end": m.CopyFrom(5, make([]byte, 6)), "before the start": m.CopyTo(make([]byte, 1), -1), "offset beyond": m.Zero(11, 0),
		"negative": m.Zero(0, -1), "source": m.CopyOnDevice(0, m, 8, 3),
	} {
		if err == nil || !strings.Contains(err.Error(), "of an allocation of 10") && what != "source" {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"CopyFrom": m.CopyFrom(0, []byte{1}), "CopyTo": m.CopyTo([]byte{1}, 0), "Zero": m.Zero(0, 1), "CopyOnDevice": m.CopyOnDevice(0, m, 0, 1)} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	f := newFake()
	d := closing(t, openFake(t, f))
	held, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, n := range []int64{1<<30 - 1<<20 + 1, 1 << 40, -1} { // what the driver refuses, and what it is not asked
		_, err := d.Alloc(n)
		if !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		for _, s := range []string{"cuda:0", fmt.Sprintf("asked for %d bytes", n), fmt.Sprintf("%d of %d are free", 1<<30-1<<20, 1<<30), "1048576 in use"} {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("error %q does not say %q", err, s)
			}
		}
	}
}

// Whichever call of the driver fails in a series of allocations, copies and a launch, its error comes out, the device
// works on, and the rest is given back. What gives back may keep what it failed to free, and so may the calls that must come before.
func TestEveryCallFails(t *testing.T) {
	gives := []string{"cuMemFreeAsync", "cuMemPoolDestroy", "cuMemFreeHost", "cuEventDestroy_v2", "cuModuleUnload", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2",
		"cuCtxSetCurrent", "cuStreamSynchronize"}
	for _, eager := range []bool{false, true} {
		for n := 0; ; n++ {
			f := newFake()
			f.eager = eager
			d := openFake(t, f)
			src := pattern(2*d.staging.size+5, 9)
			opened, failed := len(f.calls), ""
			f.fail = func(call string) result {
				if len(f.calls) == opened+n+1 {
					failed = call
					return outOfMemory
				}
				return success
			}
			err := manyCalls(d, src)
			if u := d.Usage(); u != (device.Usage{}) {
				t.Errorf("%s failed: %+v is open", failed, u)
			}
			// Without page-locked memory copies go another way, without events they wait for the whole stream.
			var e *device.Error
			spared := (failed == "cuMemAllocHost_v2" || failed == "cuMemAllocFromPoolAsync" || failed == "cuEventCreate" || failed == "cuCtxSetCurrent") && err == nil
			if failed != "" && !spared && (!errors.As(err, &e) || e.Call != failed || !errors.Is(err, device.ErrOutOfMemory)) {
				t.Errorf("%s failed: error %v", failed, err)
			}
			if failed == "" && err != nil {
				t.Fatal(err)
			}
			f.fail = nil
			if err := manyCalls(d, src); err != nil {
				t.Errorf("%s failed, and later: %v", failed, err)
			}
			if err := d.Close(); err != nil {
				t.Errorf("%s failed, and closing: %v", failed, err)
			}
			if left := f.left(); left != "" && !slices.Contains(gives, failed) {
				t.Errorf("%s failed: not given back: %s", failed, left)
			}
			if failed == "" {
				if n < 40 {
					t.Errorf("only %d calls", n)
				}
				break
			}
		}
	}
}

// manyCalls makes every kind of call of an open device, and returns the first error.
func manyCalls(d *Device, src []byte) (err error) {
	keep := func(e error) { err = firstError(err, e) }
	start, e := d.Stream().Record()
	if e != nil {
		return e
	}
	defer func() { keep(start.Close()) }()
	a, e := device.FromHost(d, src)
	if e != nil {
		return e
	}
	defer func() { keep(a.Close()) }()
	b, e := device.FromHost(d, []float32{1, 2, 3})
	if e != nil {
		return e
	}
	defer func() { keep(b.Close()) }()
	got := make([]byte, len(src))
	if e := a.Download(got); e != nil {
		return e
	}
	if !bytes.Equal(got, src) {
		return errors.New("came back differently")
	}
	if e := a.View(0, 100).CopyFrom(a.View(50, 150)); e != nil {
		return e
	}
	if e := a.Zero(); e != nil {
		return e
	}
	k, e := d.Kernel(testProgram("scale_f32"))
	if e != nil {
		return e
	}
	if _, e := k.Occupancy(64, 50<<10); e != nil {
		return e
	}
	if e := k.Launch(1, 64, 50<<10, b.Arg(), b.Arg(), device.Value[float32](2), device.Value[int64](3)); e != nil {
		return e
	}
	end, e := d.Stream().Record()
	if e != nil {
		return e
	}
	defer func() { keep(end.Close()) }()
	if _, e := end.Since(start); e != nil {
		return e
	}
	return d.Stream().Synchronize()
}

// Bindings without events and function attributes still copy, launch and free.
func TestPoorBindings(t *testing.T) {
	f := newFake()
	for _, call := range []string{"cuMemPoolCreate", "cuEventCreate", "cuEventRecord", "cuFuncSetAttribute", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuDeviceGetUuid_v2"} {
		f.lacks[call] = true
	}
	d := closing(t, openFake(t, f))
	src := pattern(3*d.staging.size+1, 3)
	b, err := device.FromHost(d, src)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(src))
	if err := b.Download(got); err != nil || !bytes.Equal(got, src) {
		t.Errorf("came back differently, error %v", err)
	}
	if _, err := d.Stream().Record(); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("Record: %v", err)
	}
	k, err := d.Kernel(testProgram("fault"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := k.Occupancy(64, 0); n != 0 || err != nil {
		t.Errorf("Occupancy: %d, %v", n, err)
	}
	if err := k.Launch(1, 64, 100<<10, device.Arg{}); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("shared memory beyond the default: %v", err)
	}
	if d.UUID() != "" {
		t.Errorf("UUID is %q", d.UUID())
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// benchmarks of a GPU; there is nothing to learn from a fake.
func benchmarkGPU(b *testing.B) *Device {
	d, err := Open(0)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

func BenchmarkCopies(b *testing.B) {
	d := benchmarkGPU(b)
	for _, n := range []int{4 << 10, directBytes, 2 * directBytes, 256 << 20} {
		src := pattern(n, 1)
		buf, err := device.FromHost(d, src)
		if err != nil {
			b.Fatal(err)
		}
		for name, copy := range map[string]func([]byte) error{"upload": buf.Upload, "download": buf.Download} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					if err := errors.Join(copy(src), d.Stream().Synchronize()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		buf.Close()
	}
}

// Closed memory is free for the next allocation, and closing does not wait; with nothing else free, allocating does.
func TestPool(t *testing.T) {
	f := newFake()
	f.capacity = 1 << 20
	d := closing(t, openFake(t, f))
	before := len(f.calls)
	for range 3 {
		m, err := d.Alloc(700 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(m.Zero(0, 10), m.Close()); err != nil {
			t.Fatal(err)
		}
	}
	waits := 0
	for _, call := range f.calls[before:] {
		if call == "cuStreamSynchronize" {
			waits++
		}
	}
	if waits != 2 {
		t.Errorf("waited %d times, want once for each allocation after the first", waits)
	}
}
