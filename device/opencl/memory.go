package opencl

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"sddmmkit/device"
)

// memory is a cl_mem.
type memory struct {
	dev    *Device
	handle uintptr
	bytes  int64
	held   int64 // what it takes, at least a byte
	closed atomic.Bool
}

// Alloc implements device.Device. Drivers may put allocation off until the memory is used; so that it fails
// here and not in a launch, a few bytes of it are used at once.
func (d *Device) Alloc(bytes int64) (device.Memory, error) {
	if err := d.open("Alloc"); err != nil {
		return nil, err
	}
	a := d.api
	used, limit := d.bytes.Load(), d.props.MemoryBytes
	sizes := fmt.Sprintf("asked for %d bytes with %d in use; the device has %d, and promises to allocate up to %d at once",
		bytes, used, limit, d.largest)
	if bytes < 0 || bytes > limit-used {
		return nil, &device.Error{Device: d.name, Call: "Alloc", Err: device.ErrOutOfMemory, Detail: sizes}
	}
	m := &memory{dev: d, bytes: bytes, held: max(bytes, 1)}
	const memReadWrite = 1 << 0
	var code status
	m.handle = a.create(a.createBuffer, d.context, memReadWrite, uintptr(m.held), 0, uintptr(unsafe.Pointer(&code)))
	if code != success {
		return nil, allocationError(code, d.name, a.createBuffer, sizes)
	}
	d.buffers.Add(1)
	d.bytes.Add(m.held)
	first := [1]byte{}
	s := a.call(a.enqueueWriteBuffer, d.queue, m.handle, 1, 0, 1, uintptr(unsafe.Pointer(&first[0])), 0, 0, 0)
	if s != success {
		m.Close()
		return nil, allocationError(s, d.name, a.enqueueWriteBuffer, sizes)
	}
	return m, nil
}

// allocationError is the error of a call that failed to allocate, whatever the driver calls it.
func allocationError(s status, on string, f function, sizes string) error {
	err := s.error(on, f, sizes).(*device.Error)
	if s == invalidBufferSize || s == outOfResources {
		err.Err = device.ErrOutOfMemory
	}
	return err
}

func (m *memory) Device() device.Device { return m.dev }
func (m *memory) Bytes() int64          { return m.bytes }
func (m *memory) HostBytes() []byte     { return nil }
func (m *memory) Closed() bool          { return m.closed.Load() }

func (m *memory) CopyFrom(offset int64, src []byte) error {
	a, d := m.dev.api, m.dev
	if err := d.open("CopyFrom"); err != nil || len(src) == 0 {
		return err
	}
	s := a.call(a.enqueueWriteBuffer, d.queue, m.handle, 1, uintptr(offset), uintptr(len(src)), uintptr(unsafe.Pointer(&src[0])), 0, 0, 0)
	return s.error(d.name, a.enqueueWriteBuffer, m.span(offset, int64(len(src))))
}

func (m *memory) CopyTo(dst []byte, offset int64) error {
	a, d := m.dev.api, m.dev
	if err := d.open("CopyTo"); err != nil || len(dst) == 0 {
		return err
	}
	s := a.call(a.enqueueReadBuffer, d.queue, m.handle, 1, uintptr(offset), uintptr(len(dst)), uintptr(unsafe.Pointer(&dst[0])), 0, 0, 0)
	return s.error(d.name, a.enqueueReadBuffer, m.span(offset, int64(len(dst))))
}

// Zero fills with the longest pattern that offset and bytes are multiples of, for short ones are slow.
func (m *memory) Zero(offset, bytes int64) error {
	a, d := m.dev.api, m.dev
	if err := d.open("Zero"); err != nil || bytes == 0 {
		return err
	}
	pattern := int64(16)
	for offset%pattern != 0 || bytes%pattern != 0 {
		pattern /= 2
	}
	var zeros [16]byte
	s := a.call(a.enqueueFillBuffer, d.queue, m.handle, uintptr(unsafe.Pointer(&zeros[0])), uintptr(pattern), uintptr(offset), uintptr(bytes), 0, 0, 0)
	return s.error(d.name, a.enqueueFillBuffer, m.span(offset, bytes))
}

// CopyOnDevice implements device.Memory. Ranges of one memory that overlap are an error.
func (m *memory) CopyOnDevice(offset int64, src device.Memory, srcOffset, bytes int64) error {
	a, d := m.dev.api, m.dev
	if err := d.open("CopyOnDevice"); err != nil || bytes == 0 {
		return err
	}
	from, ok := src.(*memory)
	if !ok || from.dev != d {
		return &device.MismatchError{Op: "CopyOnDevice", A: "dst", B: "src", OnA: d.name, OnB: src.Device().Name()}
	}
	s := a.call(a.enqueueCopyBuffer, d.queue, from.handle, m.handle, uintptr(srcOffset), uintptr(offset), uintptr(bytes), 0, 0, 0)
	return s.error(d.name, a.enqueueCopyBuffer, m.span(offset, bytes))
}

func (m *memory) span(offset, bytes int64) string {
	return fmt.Sprintf("%d bytes from byte %d of %d", bytes, offset, m.bytes)
}

// Close frees the memory; the driver waits with that until what was queued before has used it.
func (m *memory) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	a, d := m.dev.api, m.dev
	d.buffers.Add(-1)
	d.bytes.Add(-m.held)
	return a.call(a.releaseMemObject, m.handle).error(d.name, a.releaseMemObject, "")
}
