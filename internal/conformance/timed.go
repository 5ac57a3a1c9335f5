package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sddmmkit/device"
)

// Timed is a device that works on another one and keeps, by the other's own events, when each kernel, fill and copy
// within the device ran, and copies to and from the host by the host's clock, for they are over when they return.
type Timed struct {
	wrapped
	launcher device.Launcher

	mu    sync.Mutex
	spans []span
	moved time.Duration // copies between host and device
}

// span is a launch between two marks of the stream.
type span struct {
	name     string
	from, to device.Event
}

// NewTimed returns a device that works on l and takes times.
func NewTimed(l device.Launcher) *Timed {
	t := &Timed{launcher: l}
	t.Device, t.self = l, t
	return t
}

// Alloc wraps the memory.
func (t *Timed) Alloc(bytes int64) (device.Memory, error) {
	m, err := t.Device.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	return &timedMemory{memory: memory{Memory: m, dev: &t.wrapped}, timed: t}, nil
}

// Kernel implements device.Launcher.
func (t *Timed) Kernel(p *device.Program) (device.Kernel, error) {
	k, err := t.launcher.Kernel(p)
	if err != nil {
		return nil, err
	}
	return &timedKernel{Kernel: k, name: p.Name, timed: t}, nil
}

type timedKernel struct {
	device.Kernel
	name  string
	timed *Timed
}

func (k *timedKernel) Launch(grid int64, block, shared int, args ...device.Arg) error {
	args = slices.Clone(args)
	for i, a := range args {
		if m, _ := a.Buffer(); m != nil {
			args[i] = a.On(m.(*timedMemory).Memory)
		}
	}
	return k.timed.between(k.name, func() error { return k.Kernel.Launch(grid, block, shared, args...) })
}

// between puts work on the stream between two marks.
func (t *Timed) between(name string, work func() error) error {
	from, err := t.Stream().Record()
	if err != nil {
		return err
	}
	if err := work(); err != nil {
		return errors.Join(err, from.Close())
	}
	to, err := t.Stream().Record()
	if err != nil {
		return errors.Join(err, from.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = append(t.spans, span{name, from, to})
	return nil
}

// timedMemory is memory of a Timed.
type timedMemory struct {
	memory
	timed *Timed
}

func (m *timedMemory) Zero(offset, bytes int64) error {
	return m.timed.between("fill", func() error { return m.Memory.Zero(offset, bytes) })
}

func (m *timedMemory) CopyOnDevice(offset int64, src device.Memory, srcOffset, bytes int64) error {
	return m.timed.between("copy", func() error { return m.Memory.CopyOnDevice(offset, src.(*timedMemory).Memory, srcOffset, bytes) })
}

func (m *timedMemory) CopyFrom(offset int64, src []byte) error {
	return m.moving(func() error { return m.Memory.CopyFrom(offset, src) })
}

func (m *timedMemory) CopyTo(dst []byte, offset int64) error {
	// What is still on the stream is no part of the copy.
	if err := m.timed.Stream().Synchronize(); err != nil {
		return err
	}
	return m.moving(func() error { return m.Memory.CopyTo(dst, offset) })
}

func (m *timedMemory) moving(work func() error) error {
	start := time.Now()
	err := work()
	m.timed.mu.Lock()
	defer m.timed.mu.Unlock()
	m.timed.moved += time.Since(start)
	return err
}

// Times is what a Timed has seen.
type Times struct {
	Work  map[string]Work // by kernel; "fill" and "copy" are within the device
	Moved time.Duration   // in copies between host and device
}

// Work is the work of one kernel.
type Work struct {
	Launches int
	Took     time.Duration
}

// Take waits for the device and returns the times since the last call.
func (t *Timed) Take() (Times, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Times{Work: map[string]Work{}, Moved: t.moved}
	var err error
	for _, s := range t.spans {
		took, e := s.to.Since(s.from)
		err = errors.Join(err, e, s.from.Close(), s.to.Close())
		w := out.Work[s.name]
		out.Work[s.name] = Work{w.Launches + 1, w.Took + took}
	}
	t.spans, t.moved = nil, 0
	return out, err
}

// Busy returns the time of all kernels, fills and copies within the device.
func (t *Times) Busy() time.Duration {
	var sum time.Duration
	for _, w := range t.Work {
		sum += w.Took
	}
	return sum
}

// String is a table, longest first.
func (t *Times) String() string {
	var s strings.Builder
	names := slices.SortedFunc(maps.Keys(t.Work), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Work[b].Took, t.Work[a].Took), cmp.Compare(a, b))
	})
	for _, name := range names {
		w := t.Work[name]
		fmt.Fprintf(&s, "%10.3f ms %6d × %9.1f µs  %s\n", 1e3*w.Took.Seconds(), w.Launches, 1e6*w.Took.Seconds()/float64(w.Launches), name)
	}
	fmt.Fprintf(&s, "%10.3f ms between host and device\n", 1e3*t.Moved.Seconds())
	return s.String()
}
