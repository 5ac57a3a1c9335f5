package opencl

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"sddmmkit/device"
)

// stream is the device's queue.
type stream struct{ dev *Device }

func (s stream) Synchronize() error {
	if err := s.dev.open("Synchronize"); err != nil {
		return err
	}
	a := s.dev.api
	return a.call(a.finish, s.dev.queue).error(s.dev.name, a.finish, "")
}

func (s stream) Record() (device.Event, error) {
	if err := s.dev.open("Record"); err != nil {
		return nil, err
	}
	a, e := s.dev.api, &event{dev: s.dev}
	if code := a.call(a.enqueueMarker, s.dev.queue, 0, 0, uintptr(unsafe.Pointer(&e.handle))); code != success {
		return nil, code.error(s.dev.name, a.enqueueMarker, "")
	}
	return e, nil
}

// event is a cl_event of a marker.
type event struct {
	dev    *Device
	handle uintptr
	closed atomic.Bool
}

func (e *event) Since(earlier device.Event) (time.Duration, error) {
	first, ok := earlier.(*event)
	if !ok || first.dev != e.dev {
		return 0, &device.Error{Device: e.dev.name, Call: "Event.Since", Err: device.ErrUnsupported,
			Detail: fmt.Sprintf("the earlier event is a %T of another device", earlier)}
	}
	start, err := first.end()
	if err != nil {
		return 0, err
	}
	end, err := e.end()
	return time.Duration(end - start), err
}

// end waits for the event and returns its time in nanoseconds.
func (e *event) end() (int64, error) {
	if e.closed.Load() {
		return 0, &device.Error{Device: e.dev.name, Call: "Event.Since", Err: device.ErrClosed}
	}
	a := e.dev.api
	if s := a.call(a.waitForEvents, 1, uintptr(unsafe.Pointer(&e.handle))); s != success {
		return 0, s.error(e.dev.name, a.waitForEvents, "")
	}
	const profilingCommandEnd = 0x1283
	ns, err := a.number(a.getEventProfilingInfo, e.dev.name, e.handle, profilingCommandEnd)
	return int64(ns), err
}

func (e *event) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	a := e.dev.api
	return a.call(a.releaseEvent, e.handle).error(e.dev.name, a.releaseEvent, "")
}
