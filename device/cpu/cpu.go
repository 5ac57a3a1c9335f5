package cpu

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
)

// Device is the CPU as a device.Host.
type Device struct {
	threads int
	props   device.Props
	buffers atomic.Int64
	bytes   atomic.Int64

	measuring sync.Mutex
	measured  map[string]looked // by loop
}

var _ device.Host = (*Device)(nil)

// New returns the CPU with the given number of worker threads; 0 means all usable CPUs.
func New(threads int) *Device {
	d := &Device{threads: parallel.Threads(threads)}
	d.props = detect()
	d.props.Threads = d.threads
	return d
}

// Name returns "cpu".
func (d *Device) Name() string { return "cpu" }

// Kind returns device.CPU.
func (d *Device) Kind() device.Kind { return device.CPU }

// Props returns what cpuid and the operating system say of the machine.
func (d *Device) Props() device.Props { return d.props }

// Usage counts the open allocations.
func (d *Device) Usage() device.Usage {
	return device.Usage{Buffers: d.buffers.Load(), Bytes: d.bytes.Load()}
}

// Threads returns the number of worker goroutines.
func (d *Device) Threads() int { return d.threads }

// Run implements device.Host.
func (d *Device) Run(ctx context.Context, units int, body func(unit int)) error {
	return parallel.Units(ctx, d.threads, units, body)
}

// RunWorkers implements device.Host.
func (d *Device) RunWorkers(ctx context.Context, units int, body func(worker, unit int)) error {
	return parallel.Workers(ctx, d.threads, units, body)
}

// Stream returns the queue, on which everything has always run already.
func (d *Device) Stream() device.Stream { return stream{} }

// Close does nothing: the device holds no resources of its own.
func (d *Device) Close() error { return nil }

// alignment of allocations: one AVX-512 register, one cache line.
const alignment = 64

// hugePage is the size of huge pages on amd64, and on arm64 with pages of 4 KB. Allocations of half of one and more begin at one and have whole
// ones to their end: where small pages lie in memory is luck, and of a megabyte or two that is read from a second cache of that size too many
// may share a few of its sets.
const hugePage = 2 << 20

// addressable stands in for the machine's memory where the system does not tell: make panics
// beyond 2⁴⁸ bytes.
const addressable = 1 << 47

// Alloc returns zeroed memory that starts on a cache line, and lies in huge pages where it is large and the system has some. It refuses more than the machine has,
// because Go cannot return from a failed allocation.
func (d *Device) Alloc(bytes int64) (device.Memory, error) {
	limit := d.props.MemoryBytes
	if limit == 0 {
		limit = addressable
	}
	if used := d.bytes.Load(); bytes < 0 || bytes > limit-used {
		return nil, &device.Error{Device: d.Name(), Call: "Alloc", Err: device.ErrOutOfMemory,
			Detail: fmt.Sprintf("asked for %d bytes with %d in use; the machine has %d", bytes, used, limit)}
	}
	align, room := int64(alignment), bytes
	if bytes >= hugePage/2 {
		align, room = hugePage, (bytes+hugePage-1)/hugePage*hugePage
	}
	raw := make([]byte, room+align-1)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % uintptr(align)
	if align == hugePage {
		makeHuge(raw[skip : skip+uintptr(room)])
	}
	return d.open(raw[skip:skip+uintptr(bytes):skip+uintptr(bytes)], bytes), nil
}

// Borrow implements device.Host.
func (d *Device) Borrow(b []byte) device.Memory { return d.open(b, 0) }

func (d *Device) open(raw []byte, owned int64) *memory {
	d.buffers.Add(1)
	d.bytes.Add(owned)
	return &memory{dev: d, raw: raw, owned: owned}
}

type memory struct {
	dev    *Device
	raw    []byte
	owned  int64 // bytes counted in Usage; 0 when borrowed
	closed atomic.Bool
}

func (m *memory) Device() device.Device { return m.dev }
func (m *memory) Bytes() int64          { return int64(len(m.raw)) }
func (m *memory) HostBytes() []byte     { return m.raw }
func (m *memory) Closed() bool          { return m.closed.Load() }

func (m *memory) CopyFrom(offset int64, src []byte) error {
	copy(m.raw[offset:offset+int64(len(src))], src)
	return nil
}

func (m *memory) CopyTo(dst []byte, offset int64) error {
	copy(dst, m.raw[offset:offset+int64(len(dst))])
	return nil
}

func (m *memory) CopyOnDevice(offset int64, src device.Memory, srcOffset, bytes int64) error {
	copy(m.raw[offset:offset+bytes], src.HostBytes()[srcOffset:srcOffset+bytes])
	return nil
}

func (m *memory) Zero(offset, bytes int64) error {
	clear(m.raw[offset : offset+bytes])
	return nil
}

func (m *memory) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	m.dev.buffers.Add(-1)
	m.dev.bytes.Add(-m.owned)
	m.raw = nil
	return nil
}

type stream struct{}

func (stream) Synchronize() error            { return nil }
func (stream) Record() (device.Event, error) { return event(time.Now()), nil }

type event time.Time

func (e event) Since(earlier device.Event) (time.Duration, error) {
	s, ok := earlier.(event)
	if !ok {
		return 0, &device.Error{Device: "cpu", Call: "Event.Since", Err: device.ErrUnsupported,
			Detail: fmt.Sprintf("the earlier event is a %T of another device", earlier)}
	}
	return time.Time(e).Sub(time.Time(s)), nil
}

func (event) Close() error { return nil }
