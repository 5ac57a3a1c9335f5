package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"sddmmkit/device"
)

// keptShare is the share of a GPU's memory, one part in so many, of which closed allocations are kept for the next ones: to get a few MB from the
// driver and give them back takes as long as a small SDDMM.
const keptShare = 16

// memory is an allocation on a device.
type memory struct {
	dev    *Device
	at     address // 0 for no bytes
	bytes  int64
	closed atomic.Bool
}

// Alloc implements device.Device. No bytes are an allocation without memory.
func (d *Device) Alloc(bytes int64) (device.Memory, error) {
	m := &memory{dev: d, bytes: bytes}
	err := d.do(func() error {
		if err := d.alloc(m); err != nil {
			return err
		}
		d.buffers.Add(1)
		d.bytes.Add(bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// alloc gets the memory from the driver.
func (d *Device) alloc(m *memory) (err error) {
	if m.bytes == 0 {
		return nil
	}
	// The driver is not asked for what no GPU has: it refuses some sizes as invalid.
	call, code, name := "Alloc", 0, ""
	if m.bytes > 0 && m.bytes <= d.props.MemoryBytes {
		m.at, err = d.get(m.bytes)
		var e *device.Error
		if !errors.Is(err, device.ErrOutOfMemory) || !errors.As(err, &e) {
			return err
		}
		call, code, name = e.Call, e.Code, e.Name
	}
	free, total, err := d.drv.memInfo()
	if err != nil {
		return err
	}
	return &device.Error{Call: call, Code: code, Name: name, Err: device.ErrOutOfMemory, Detail: fmt.Sprintf(
		"asked for %d bytes; %d of %d are free, %d in use by this device's buffers", m.bytes, free, total, d.bytes.Load())}
}

// get gets memory from the pool, or from the driver where there are none.
func (d *Device) get(bytes int64) (address, error) {
	if d.pool == 0 {
		return d.drv.memAlloc(bytes)
	}
	at, err := d.drv.poolAlloc(d.pool, bytes, d.stream)
	if !errors.Is(err, device.ErrOutOfMemory) {
		return at, err
	}
	// What is kept may be in the way, and what was closed is not free before the stream gets there.
	if err := firstError(d.drv.streamSynchronize(d.stream), d.drv.poolTrim(d.pool)); err != nil {
		return 0, err
	}
	return d.drv.poolAlloc(d.pool, bytes, d.stream)
}

func (m *memory) Device() device.Device { return m.dev }
func (m *memory) Bytes() int64          { return m.bytes }
func (m *memory) HostBytes() []byte     { return nil }
func (m *memory) Closed() bool          { return m.closed.Load() }

// check returns an error unless the memory is open and has bytes [offset, offset+bytes).
func (m *memory) check(call string, offset, bytes int64) error {
	if m.closed.Load() {
		return &device.Error{Device: m.dev.Name(), Call: call, Err: device.ErrClosed}
	}
	if offset < 0 || bytes < 0 || bytes > m.bytes-offset {
		return m.dev.failed(call, nil, "%d bytes from %d on of an allocation of %d", bytes, offset, m.bytes)
	}
	return nil
}

func (m *memory) place(offset int64) address { return m.at + address(offset) }

func (m *memory) CopyFrom(offset int64, src []byte) error {
	if err := m.check("CopyFrom", offset, int64(len(src))); err != nil || len(src) == 0 {
		return err
	}
	if len(src) > m.dev.staging.direct {
		if done, err := m.dev.staging.upload(m.dev, m.place(offset), src); done {
			return err
		}
	}
	return m.dev.direct(src, func(p unsafe.Pointer) error {
		return m.dev.drv.copyToDevice(m.place(offset), p, int64(len(src)), m.dev.stream)
	})
}

func (m *memory) CopyTo(dst []byte, offset int64) error {
	if err := m.check("CopyTo", offset, int64(len(dst))); err != nil || len(dst) == 0 {
		return err
	}
	if len(dst) > m.dev.staging.direct {
		if done, err := m.dev.staging.download(m.dev, dst, m.place(offset)); done {
			return err
		}
	}
	return m.dev.direct(dst, func(p unsafe.Pointer) error {
		return m.dev.drv.copyToHost(p, m.place(offset), int64(len(dst)), m.dev.stream)
	})
}

// direct makes a copy from or to memory of Go, which stays in place until the copy has run.
func (d *Device) direct(host []byte, put func(p unsafe.Pointer) error) error {
	p := unsafe.SliceData(host)
	var pin runtime.Pinner
	pin.Pin(p)
	defer pin.Unpin()
	return d.do(func() error {
		// The stream is waited for after an error too: part of the copy may be under way.
		return firstError(put(unsafe.Pointer(p)), d.drv.streamSynchronize(d.stream))
	})
}

func (m *memory) Zero(offset, bytes int64) error {
	if err := m.check("Zero", offset, bytes); err != nil || bytes == 0 {
		return err
	}
	return m.dev.do(func() error { return m.dev.drv.fill(m.place(offset), 0, bytes, m.dev.stream) })
}

// CopyOnDevice implements device.Memory. The ranges may overlap.
func (m *memory) CopyOnDevice(offset int64, src device.Memory, srcOffset, bytes int64) error {
	const call = "CopyOnDevice"
	if err := m.check(call, offset, bytes); err != nil {
		return err
	}
	from, ok := src.(*memory)
	if !ok || from.dev != m.dev {
		return &device.MismatchError{Op: call, A: "dst", B: "src", OnA: m.dev.Name(), OnB: src.Device().Name()}
	}
	if err := from.check(call, srcOffset, bytes); err != nil || bytes == 0 {
		return err
	}
	put := func(dst, src address) func() error {
		return func() error { return m.dev.drv.copyOnDevice(dst, src, bytes, m.dev.stream) }
	}
	if from != m || offset >= srcOffset+bytes || srcOffset >= offset+bytes {
		return m.dev.do(put(m.place(offset), from.place(srcOffset)))
	}
	between, err := m.dev.Alloc(bytes)
	if err != nil {
		return err
	}
	b := between.(*memory)
	err = m.dev.do(func() error {
		return firstError(put(b.at, from.place(srcOffset))(), put(m.place(offset), b.at)())
	})
	return firstError(err, b.Close())
}

// Close frees the memory behind the device's work, which may use it. Without a pool it waits for that.
func (m *memory) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	defer func() {
		m.dev.buffers.Add(-1)
		m.dev.bytes.Add(-m.bytes)
	}()
	if m.at == 0 {
		return nil
	}
	return m.dev.do(func() error {
		if m.dev.pool != 0 {
			return m.dev.drv.poolFree(m.at, m.dev.stream)
		}
		// Where waiting fails the context is lost, and the memory with it: what may still be in use is not freed.
		if err := m.dev.drv.streamSynchronize(m.dev.stream); err != nil {
			return err
		}
		return m.dev.drv.memFree(m.at)
	})
}
