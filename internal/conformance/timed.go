package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sddmmkit/device"
)

// Timed is a device that works on another one and keeps, by the other's own events, when each kernel, fill and copy
// within the device ran, and by the host's clock when it was called and for how long.
type Timed struct {
	wrapped
	launcher device.Launcher

	mu    sync.Mutex
	spans []span
	calls []Call
	began time.Time // of what Take returns next
}

// span is a launch between two marks of the stream.
type span struct {
	name     string
	from, to device.Event
}

// NewTimed returns a device that works on l and takes times.
func NewTimed(l device.Launcher) *Timed {
	t := &Timed{launcher: l, began: time.Now()}
	t.Device, t.self = l, t
	return t
}

// Call is a call to a Timed by the host's clock.
type Call struct {
	What     string
	At, Took time.Duration // At counts from the last Take, or from NewTimed

	stack []uintptr
}

// The calls.
const (
	allocating  = "allocate"
	freeing     = "free"
	loading     = "load kernel"
	launching   = "launch"
	uploading   = "upload"
	downloading = "download"
	waiting     = "wait" // until the device has done what was put on its stream
)

// call takes the time of a call.
func (t *Timed) call(what string, do func() error) error {
	var stack [32]uintptr
	n := runtime.Callers(3, stack[:])
	start := time.Now()
	err := do()
	took := time.Since(start)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, Call{what, start.Sub(t.began), took, slices.Clone(stack[:n])})
	return err
}

// By names the functions of this module that the call was made by, outermost first: of each package on the way the one that left it.
func (c *Call) By() string {
	var by []string
	last := ""
	for frames, more := runtime.CallersFrames(c.stack), true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name, ours := strings.CutPrefix(f.Function, "sddmmkit/")
		if strings.Contains(name, ".Benchmark") {
			break
		}
		name = name[strings.LastIndex(name, "/")+1:] // als.(*side[...]).solve
		of, function, _ := strings.Cut(name, ".")
		if !ours || of == last || of == "device" || of == "conformance" {
			continue
		}
		last = of
		by = append(by, of+"."+strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(function))
	}
	slices.Reverse(by)
	return strings.Join(by, " ")
}

// Alloc wraps the memory.
func (t *Timed) Alloc(bytes int64) (m device.Memory, err error) {
	err = t.call(allocating, func() error {
		m, err = t.Device.Alloc(bytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &timedMemory{memory: memory{Memory: m, dev: &t.wrapped}, timed: t}, nil
}

// Kernel implements device.Launcher.
func (t *Timed) Kernel(p *device.Program) (k device.Kernel, err error) {
	err = t.call(loading, func() error {
		k, err = t.launcher.Kernel(p)
		return err
	})
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
	if err := t.call(launching, work); err != nil {
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
	return m.timed.call(uploading, func() error { return m.Memory.CopyFrom(offset, src) })
}

func (m *timedMemory) CopyTo(dst []byte, offset int64) error {
	// What is still on the stream is no part of the copy.
	if err := m.timed.wait(); err != nil {
		return err
	}
	return m.timed.call(downloading, func() error { return m.Memory.CopyTo(dst, offset) })
}

// Close waits for the stream, as drivers do before they free.
func (m *timedMemory) Close() error {
	if m.Closed() {
		return nil
	}
	if err := m.timed.wait(); err != nil {
		return err
	}
	return m.timed.call(freeing, m.Memory.Close)
}

func (t *Timed) wait() error { return t.call(waiting, t.Stream().Synchronize) }

// Times is what a Timed has seen.
type Times struct {
	Work  map[string]Work // by kernel; "fill" and "copy" are within the device
	Calls []Call          // in the order in which they ended
	Took  time.Duration   // in all, by the host's clock
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
	now := time.Now()
	out := Times{Work: map[string]Work{}, Calls: t.calls, Took: now.Sub(t.began)}
	var err error
	for _, s := range t.spans {
		took, e := s.to.Since(s.from)
		err = errors.Join(err, e, s.from.Close(), s.to.Close())
		w := out.Work[s.name]
		out.Work[s.name] = Work{w.Launches + 1, w.Took + took}
	}
	t.spans, t.calls, t.began = nil, nil, time.Now()
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
	return s.String()
}

// Host is a table of the host's time: what calls of each kind took, and, in the order of time, what took at least least. The
// host's own work stands by the call that came after it. Calls from several goroutines may overlap.
func (t *Times) Host(least time.Duration) string {
	var s strings.Builder
	own := "the host itself"
	sums := map[string]Work{}
	row := func(c Call) {
		w := sums[c.What]
		sums[c.What] = Work{w.Launches + 1, w.Took + c.Took}
		if c.Took >= least {
			fmt.Fprintf(&s, "%10.3f %10.3f ms  %-15s  %s\n", 1e3*c.At.Seconds(), 1e3*c.Took.Seconds(), c.What, c.By())
		}
	}
	var last time.Duration
	calls := slices.SortedFunc(slices.Values(t.Calls), func(a, b Call) int { return cmp.Compare(a.At, b.At) })
	for _, c := range append(calls, Call{At: t.Took}) {
		if c.At > last {
			row(Call{own, last, c.At - last, c.stack})
		}
		if c.What != "" {
			row(c)
		}
		last = max(last, c.At+c.Took)
	}
	fmt.Fprintf(&s, "%10.3f %10.3f ms  in all\n", 0., 1e3*t.Took.Seconds())
	for _, what := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Compare(sums[b].Took, sums[a].Took) }) {
		fmt.Fprintf(&s, "%21.3f ms  %-15s  %d ×\n", 1e3*sums[what].Took.Seconds(), what, sums[what].Launches)
	}
	return s.String()
}
