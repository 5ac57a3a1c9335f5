package cpu_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

func TestDevice(t *testing.T) {
	conformance.Device(t, func(*testing.T) device.Device { return cpu.New(2) })
}

// The same memory behind a device that the host cannot address: everything is copied.
func TestRemoteDevice(t *testing.T) {
	conformance.Device(t, func(*testing.T) device.Device { return conformance.Remote(cpu.New(2)) })
}

func TestThreads(t *testing.T) {
	if got := cpu.New(3).Threads(); got != 3 {
		t.Errorf("New(3) works with %d threads", got)
	}
	for _, n := range []int{0, -1} {
		if got := cpu.New(n).Threads(); got != runtime.GOMAXPROCS(0) {
			t.Errorf("New(%d) works with %d threads, want all %d", n, got, runtime.GOMAXPROCS(0))
		}
	}
}

func TestProps(t *testing.T) {
	p := cpu.New(1).Props()
	if p.Name != "cpu" || p.Kind != device.CPU || p.Units != runtime.NumCPU() || p.Architecture != runtime.GOARCH || p.Threads != 1 {
		t.Errorf("properties %+v", p)
	}
	if runtime.GOOS == "linux" && p.MemoryBytes < 1<<26 {
		t.Errorf("the machine has %d bytes of memory", p.MemoryBytes)
	}
	if p.L1Bytes > 0 && p.L2Bytes > 0 && p.L1Bytes > p.L2Bytes {
		t.Errorf("L1 of %d bytes is larger than L2 of %d", p.L1Bytes, p.L2Bytes)
	}
}

func TestOutOfMemorySaysSizes(t *testing.T) {
	dev := cpu.New(1)
	held, err := dev.Alloc(12345)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, bytes := range []int64{1 << 60, math.MaxInt64} {
		_, err = dev.Alloc(bytes)
		if !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatalf("%d bytes: error %v", bytes, err)
		}
	}
	for _, s := range []string{"9223372036854775807 bytes", "12345 in use", "the machine has"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
}

func TestAlignment(t *testing.T) {
	dev := cpu.New(1)
	for n := range int64(200) {
		m, err := dev.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		raw := m.HostBytes()
		if int64(len(raw)) != n || int64(cap(raw)) != n {
			t.Errorf("%d bytes: length %d, capacity %d", n, len(raw), cap(raw))
		}
		if addr := uintptr(unsafe.Pointer(unsafe.SliceData(raw))); n > 0 && addr%64 != 0 {
			t.Errorf("%d bytes start at %#x, want a multiple of 64", n, addr)
		}
		m.Close()
	}
}

func TestBorrowShares(t *testing.T) {
	dev := cpu.New(1)
	mine := []float32{1, 2, 3}
	b, err := device.Place(dev, mine)
	if err != nil {
		t.Fatal(err)
	}
	if u := dev.Usage(); u.Buffers != 1 || u.Bytes != 0 {
		t.Errorf("a borrowed slice counts as %+v, want 1 buffer of 0 bytes", u)
	}
	b.Host()[1] = 7
	if mine[1] != 7 {
		t.Error("writing to the buffer did not write to the slice")
	}
	b.Close()
	b.Close()
	if mine[0] != 1 {
		t.Error("closing touched the slice")
	}
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("after closing, %+v is in use", u)
	}
}

type foreignEvent struct{ device.Event }

func TestForeignEvent(t *testing.T) {
	e, err := cpu.New(1).Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Since(foreignEvent{}); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("an event of another device: error %v", err)
	}
}

// Thread counts above and below the number of units and of CPUs all run every unit once.
func TestRunWithAnyThreads(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8, 100} {
		sum := make([]int, 10)
		if err := cpu.New(threads).Run(context.Background(), 10, func(u int) { sum[u]++ }); err != nil {
			t.Fatal(err)
		}
		for u, n := range sum {
			if n != 1 {
				t.Errorf("%d threads: unit %d ran %d times", threads, u, n)
			}
		}
	}
}
