package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sddmmkit/device"
)

// Device is a GPU as a device.Launcher.
type Device struct {
	drv     driver
	dev     ordinal
	ctx     context
	stream  stream
	pool    pool // 0 where there are none
	props   device.Props
	cc      int // compute capability, 10·major + minor
	maxGrid int64
	version int    // of CUDA that the driver supports
	uuid    string // "GPU-…"

	buffers atomic.Int64
	bytes   atomic.Int64

	life   sync.RWMutex // held for reading by every call to the driver, for writing by Close
	closed bool

	staging staging
	kernels kernels
}

var _ device.Launcher = (*Device)(nil)

// loaded is the driver of this machine, ready for use.
var loaded = sync.OnceValues(func() (driver, error) {
	drv, err := load()
	if err != nil {
		return nil, err
	}
	return drv, ready(drv)
})

// ready initialises the driver and checks its version.
func ready(drv driver) error {
	version, err := drv.version()
	if err != nil {
		return unavailable(err)
	}
	if version < oldest {
		return &device.Error{Device: "cuda", Call: "cuDriverGetVersion", Err: device.ErrUnavailable, Detail: fmt.Sprintf(
			"the NVIDIA driver supports CUDA %s, install one for CUDA %s or newer", versionText(version), versionText(oldest))}
	}
	return unavailable(drv.initialize())
}

// unavailable makes an error of the driver one that wraps device.ErrUnavailable.
func unavailable(err error) error {
	var e *device.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Device, out.Err = "cuda", device.ErrUnavailable
	if result(e.Code) == noDevice {
		out.Detail = "no NVIDIA GPU is visible; see nvidia-smi and the environment variable CUDA_VISIBLE_DEVICES"
	}
	return &out
}

// versionText returns 12090 as "12.9".
func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Count returns the number of GPUs that Open can open. The error wraps device.ErrUnavailable and says why there
// is no driver to ask; a driver without a GPU is one too.
func Count() (int, error) {
	drv, err := loaded()
	if err != nil {
		return 0, err
	}
	return count(drv)
}

func count(drv driver) (int, error) {
	n, err := drv.deviceCount()
	return n, unavailable(err)
}

// Open opens the GPU with a number from 0, as the driver counts them. A GPU can be opened several times; each
// Device has its own stream and memory. The caller closes it. The error wraps device.ErrUnavailable
// where the driver or the GPU is missing, and says what to do.
func Open(number int) (*Device, error) {
	drv, err := loaded()
	if err != nil {
		return nil, err
	}
	return open(drv, number)
}

// open opens a device of a driver that is ready.
func open(drv driver, number int) (_ *Device, err error) {
	name := fmt.Sprintf("cuda:%d", number)
	n, err := count(drv)
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= n {
		return nil, &device.Error{Device: name, Call: "Open", Err: device.ErrUnavailable,
			Detail: fmt.Sprintf("the driver shows %d GPUs, numbered from 0; see nvidia-smi and the environment variable CUDA_VISIBLE_DEVICES", n)}
	}
	d := &Device{drv: drv}
	d.props.Name, d.props.Kind = name, device.CUDA
	d.staging.size, d.staging.direct = chunkBytes, directBytes
	d.kernels.byName = map[string]*compiling{}
	if err := d.describe(number); err != nil {
		return nil, d.named(err)
	}
	if d.ctx, err = drv.contextRetain(d.dev); err != nil {
		return nil, d.named(err)
	}
	err = d.do(func() (err error) {
		if d.stream, err = drv.streamCreate(); err != nil {
			return err
		}
		if d.pool, err = drv.poolCreate(d.dev, d.props.MemoryBytes/keptShare); errors.Is(err, device.ErrUnsupported) {
			return nil
		} else if err != nil {
			return firstError(err, drv.streamDestroy(d.stream))
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, d.named(drv.contextRelease(d.dev, d.ctx)))
	}
	return d, nil
}

// describe asks the driver what the device is.
func (d *Device) describe(number int) (err error) {
	if d.dev, err = d.drv.deviceGet(number); err != nil {
		return err
	}
	p := &d.props
	if p.Model, err = d.drv.deviceName(d.dev); err != nil {
		return err
	}
	if p.MemoryBytes, err = d.drv.deviceTotalMem(d.dev); err != nil {
		return err
	}
	if d.version, err = d.drv.version(); err != nil {
		return err
	}
	get := func(a attribute) int {
		v, e := d.drv.deviceAttribute(a, d.dev)
		if err == nil {
			err = e
		}
		return v
	}
	p.Units = get(multiprocessorCount)
	p.Lanes = get(warpSize)
	p.L2Bytes = int64(get(l2CacheSize))
	p.LineBytes = 128 // of four sectors of 32 bytes, which L2 fetches one by one
	p.SharedBytes = int64(max(get(maxSharedOptIn), get(maxSharedPerBlock)))
	p.BlockThreads = get(maxBlockThreads)
	d.cc = 10*get(capabilityMajor) + get(capabilityMinor)
	d.maxGrid = int64(get(maxGrid))
	p.Architecture = fmt.Sprintf("sm_%d", d.cc)
	if err != nil {
		return err
	}
	id, err := d.drv.deviceUUID(d.dev)
	if errors.Is(err, device.ErrUnsupported) {
		return nil
	}
	d.uuid = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	return err
}

// Name returns "cuda:" and the number of the GPU.
func (d *Device) Name() string { return d.props.Name }

// Kind returns device.CUDA.
func (d *Device) Kind() device.Kind { return device.CUDA }

// Props returns what the driver says of the GPU. It does not tell the size of L1.
func (d *Device) Props() device.Props { return d.props }

// Usage counts the open allocations; what the device keeps of closed ones, and page-locked memory of the host that copies go through, are not among them.
func (d *Device) Usage() device.Usage {
	return device.Usage{Buffers: d.buffers.Load(), Bytes: d.bytes.Load()}
}

// ComputeCapability returns 10·major + minor of the GPU's compute capability: 90 for an H200.
func (d *Device) ComputeCapability() int { return d.cc }

// DriverVersion returns the version of CUDA that the driver supports, as "13.0".
func (d *Device) DriverVersion() string { return versionText(d.version) }

// UUID returns the GPU's identifier as nvidia-smi prints it, the same for every process, or "" where the bindings
// cannot tell.
func (d *Device) UUID() string { return d.uuid }

// CanAccess reports whether the GPU can reach the memory of another one directly.
func (d *Device) CanAccess(other *Device) (bool, error) {
	can, err := d.drv.deviceCanAccessPeer(d.dev, other.dev)
	return can, d.named(err)
}

// do runs calls to the driver in the device's context.
func (d *Device) do(calls func() error) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return &device.Error{Device: d.Name(), Call: "use", Err: device.ErrClosed}
	}
	return d.inContext(calls)
}

// inContext holds the goroutine on its thread, where it makes the context current, for the length of calls.
func (d *Device) inContext(calls func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.drv.contextSetCurrent(d.ctx); err != nil {
		return d.named(err)
	}
	return d.named(calls())
}

// named puts the device's name into an error of the driver.
func (d *Device) named(err error) error {
	var e *device.Error
	if !errors.As(err, &e) || e.Device != "" {
		return err
	}
	out := *e
	out.Device = d.Name()
	return &out
}

// failed returns an error of this package's own.
func (d *Device) failed(call string, class error, format string, args ...any) error {
	return &device.Error{Device: d.Name(), Call: call, Err: class, Detail: fmt.Sprintf(format, args...)}
}

// Close waits for the device's work and gives back all that it holds. It refuses to while buffers are open. Closing
// again does nothing.
func (d *Device) Close() error {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	if u := d.Usage(); u.Buffers != 0 {
		return d.failed("Close", nil, "%d buffers with %d bytes are open; close them first", u.Buffers, u.Bytes)
	}
	d.closed = true
	err := d.inContext(func() error {
		errs := []error{d.drv.streamSynchronize(d.stream), d.staging.free(d.drv), d.kernels.unload(d.drv)}
		if d.pool != 0 {
			errs = append(errs, d.drv.poolDestroy(d.pool))
		}
		errs = append(errs, d.drv.streamDestroy(d.stream))
		return firstError(errs...)
	})
	return firstError(err, d.named(d.drv.contextRelease(d.dev, d.ctx)))
}

// firstError returns the first of errs that is one: after an error of the GPU all calls return it again.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
