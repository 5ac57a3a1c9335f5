package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
)

// FailingDevice is a device one of whose calls fails.
type FailingDevice interface {
	device.Device
	Failed() bool // whether that call has been made
}

// Failing returns a device that works on d and whose n-th allocation (from 1) fails with
// ErrOutOfMemory. It is a Host, or a Launcher, when d is one.
func Failing(d device.Device, n int) FailingDevice {
	return newFailing(d, n, func(call string) bool { return call == "Alloc" }, device.ErrOutOfMemory)
}

// errTransfer is how the transfers of FailingTransfers fail.
var errTransfer = errors.New("transfer failed")

// FailingTransfers returns a device that works on d and whose n-th copy, fill or launch (from 1) fails. It
// is a Host, or a Launcher, when d is one.
func FailingTransfers(d device.Device, n int) FailingDevice {
	return newFailing(d, n, func(call string) bool { return call != "Alloc" }, errTransfer)
}

func newFailing(d device.Device, n int, counts func(call string) bool, class error) FailingDevice {
	f := &failing{n: int64(n)}
	f.Device = d
	f.before = func(call string, bytes int64) error {
		if !counts(call) || f.count.Add(1) != f.n {
			return nil
		}
		return &device.Error{Device: d.Name(), Call: call, Err: class, Detail: fmt.Sprintf("number %d, of %d bytes, fails in this test", n, bytes)}
	}
	switch d := d.(type) {
	case device.Host:
		fh := &failingHost{failing: f, host: d}
		f.self = fh
		return fh
	case device.Launcher:
		fl := &failingLauncher{failing: f, launcher: d}
		f.self = fl
		return fl
	}
	f.self = f
	return f
}

type failing struct {
	wrapped
	n     int64
	count atomic.Int64
}

func (f *failing) Failed() bool { return f.count.Load() >= f.n }

type failingHost struct {
	*failing
	host device.Host
}

func (f *failingHost) Threads() int                  { return f.host.Threads() }
func (f *failingHost) Borrow(b []byte) device.Memory { return f.wrap(f.host.Borrow(b)) }
func (f *failingHost) Run(ctx context.Context, units int, body func(unit int)) error {
	return f.host.Run(ctx, units, body)
}

func (f *failingHost) RunWorkers(ctx context.Context, units int, body func(worker, unit int)) error {
	return f.host.RunWorkers(ctx, units, body)
}

type failingLauncher struct {
	*failing
	launcher device.Launcher
}

func (f *failingLauncher) Kernel(p *device.Program) (device.Kernel, error) {
	k, err := f.launcher.Kernel(p)
	if err != nil {
		return nil, err
	}
	return &failingKernel{Kernel: k, dev: &f.wrapped}, nil
}

// failingKernel launches with the memory that its device wraps.
type failingKernel struct {
	device.Kernel
	dev *wrapped
}

func (k *failingKernel) Launch(grid int64, block, shared int, args ...device.Arg) error {
	if err := k.dev.check("Launch", 0); err != nil {
		return err
	}
	args = slices.Clone(args)
	for i, a := range args {
		if m, _ := a.Buffer(); m != nil {
			args[i] = a.On(m.(*memory).Memory)
		}
	}
	return k.Kernel.Launch(grid, block, shared, args...)
}

// Threaded returns a Host that works on h with another number of threads.
func Threaded(h device.Host, threads int) device.Host {
	d := &hooked{host: h, threads: threads, run: func(ctx context.Context, units int, body func(worker, unit int)) error {
		return parallel.Workers(ctx, threads, units, body)
	}}
	d.Device, d.self = h, d
	return d
}

// watched returns a Host that works on h and calls before(unit) ahead of every unit of work.
func watched(h device.Host, before func(unit int)) device.Host {
	d := &hooked{host: h, threads: h.Threads(), run: func(ctx context.Context, units int, body func(worker, unit int)) error {
		return h.RunWorkers(ctx, units, func(worker, u int) { before(u); body(worker, u) })
	}}
	d.Device, d.self = h, d
	return d
}

type hooked struct {
	wrapped
	host    device.Host
	threads int
	run     func(ctx context.Context, units int, body func(worker, unit int)) error
}

func (d *hooked) Threads() int                  { return d.threads }
func (d *hooked) Borrow(b []byte) device.Memory { return d.wrap(d.host.Borrow(b)) }
func (d *hooked) Run(ctx context.Context, units int, body func(unit int)) error {
	return d.run(ctx, units, func(_, unit int) { body(unit) })
}

func (d *hooked) RunWorkers(ctx context.Context, units int, body func(worker, unit int)) error {
	return d.run(ctx, units, body)
}

// Remote returns a device that keeps its memory in d but hides it from the host, as a GPU does:
// all data must be copied, and no operation has kernels for it.
func Remote(d device.Device) device.Device {
	r := &remote{}
	r.Device, r.self, r.hide = d, r, true
	return r
}

type remote struct{ wrapped }

func (r *remote) Name() string      { return "remote" }
func (r *remote) Kind() device.Kind { return "remote" }
func (r *remote) Props() device.Props {
	p := r.Device.Props()
	p.Name, p.Kind = r.Name(), r.Kind()
	return p
}

// wrapped is what the devices of this file share: it is self to its memory's eyes.
type wrapped struct {
	device.Device
	self   device.Device
	before func(call string, bytes int64) error // runs ahead of allocations, copies and fills; may be nil
	hide   bool                                 // memory is not addressable
}

func (d *wrapped) Alloc(bytes int64) (device.Memory, error) {
	if err := d.check("Alloc", bytes); err != nil {
		return nil, err
	}
	m, err := d.Device.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	return d.wrap(m), nil
}

func (d *wrapped) check(call string, bytes int64) error {
	if d.before == nil {
		return nil
	}
	return d.before(call, bytes)
}

func (d *wrapped) wrap(m device.Memory) device.Memory { return &memory{Memory: m, dev: d} }

type memory struct {
	device.Memory
	dev *wrapped
}

func (m *memory) Device() device.Device { return m.dev.self }

func (m *memory) HostBytes() []byte {
	if m.dev.hide {
		return nil
	}
	return m.Memory.HostBytes()
}

func (m *memory) CopyFrom(offset int64, src []byte) error {
	if err := m.dev.check("CopyFrom", int64(len(src))); err != nil {
		return err
	}
	return m.Memory.CopyFrom(offset, src)
}

func (m *memory) CopyTo(dst []byte, offset int64) error {
	if err := m.dev.check("CopyTo", int64(len(dst))); err != nil {
		return err
	}
	return m.Memory.CopyTo(dst, offset)
}

func (m *memory) Zero(offset, bytes int64) error {
	if err := m.dev.check("Zero", bytes); err != nil {
		return err
	}
	return m.Memory.Zero(offset, bytes)
}

func (m *memory) CopyOnDevice(offset int64, src device.Memory, srcOffset, bytes int64) error {
	if err := m.dev.check("CopyOnDevice", bytes); err != nil {
		return err
	}
	if s, ok := src.(*memory); ok {
		src = s.Memory
	}
	return m.Memory.CopyOnDevice(offset, src, srcOffset, bytes)
}
