package cuda

import "sddmmkit/device"

// Use runs f, which calls another library of CUDA, with the device's context current on its thread. What f puts on
// stream, a CUstream, runs in the order of the device's other work. f must not close the device. An error of f is
// returned as it is; a device that is closed is one that wraps device.ErrClosed, and f has not run.
func (d *Device) Use(f func(stream uintptr) error) error {
	return d.do(func() error { return f(uintptr(d.stream)) })
}

// Address returns where memory is on its GPU, 0 for no bytes. ok is false for memory of other devices and for
// memory that is closed.
func Address(m device.Memory) (at uintptr, ok bool) {
	own, ok := m.(*memory)
	if !ok || own.Closed() {
		return 0, false
	}
	return uintptr(own.at), true
}
