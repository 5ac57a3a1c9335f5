package cuda

import (
	"sync/atomic"
	"time"

	"sddmmkit/device"
)

// Stream returns the device's queue, a stream of its own.
func (d *Device) Stream() device.Stream { return queue{d} }

type queue struct{ dev *Device }

func (q queue) Synchronize() error {
	return q.dev.do(func() error { return q.dev.drv.streamSynchronize(q.dev.stream) })
}

// Record implements device.Stream. Marks have the GPU's own times, to about half a microsecond.
func (q queue) Record() (device.Event, error) {
	m := &mark{dev: q.dev}
	err := q.dev.do(func() (err error) {
		if m.event, err = q.dev.drv.eventCreate(); err != nil {
			return err
		}
		if err = q.dev.drv.eventRecord(m.event, q.dev.stream); err != nil {
			return firstError(err, q.dev.drv.eventDestroy(m.event))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// mark is an event in a device's stream.
type mark struct {
	dev    *Device
	event  event
	closed atomic.Bool
}

func (m *mark) Since(earlier device.Event) (time.Duration, error) {
	const call = "Event.Since"
	from, ok := earlier.(*mark)
	if !ok || from.dev != m.dev {
		return 0, m.dev.failed(call, device.ErrUnsupported, "the earlier event is a %T of another device", earlier)
	}
	if m.closed.Load() || from.closed.Load() {
		return 0, &device.Error{Device: m.dev.Name(), Call: call, Err: device.ErrClosed}
	}
	var ms float32
	err := m.dev.do(func() (err error) {
		if err := firstError(m.dev.drv.eventSynchronize(from.event), m.dev.drv.eventSynchronize(m.event)); err != nil {
			return err
		}
		ms, err = m.dev.drv.eventElapsed(from.event, m.event)
		return err
	})
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

func (m *mark) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	return m.dev.do(func() error { return m.dev.drv.eventDestroy(m.event) })
}
