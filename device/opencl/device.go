package opencl

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"sddmmkit/device"
)

// Device is an OpenCL device as a device.Launcher.
type Device struct {
	api     *api
	name    string
	id      uintptr // cl_device_id
	context uintptr
	queue   uintptr
	props   device.Props
	largest int64  // bytes of one allocation that the driver promises
	options []byte // of the compiler, with a zero byte at the end

	buffers atomic.Int64
	bytes   atomic.Int64
	closed  atomic.Bool

	compiling sync.Mutex // guards kernels
	kernels   map[string]*kernel
}

var _ device.Launcher = (*Device)(nil)

func newDevice(a *api, f found, name string) (*Device, error) {
	d := &Device{api: a, name: name, id: f.device, kernels: map[string]*kernel{}}
	if err := d.detect(f); err != nil {
		return nil, err
	}
	const contextPlatform, queueProfiling = 0x1084, 1 << 1
	var code status
	properties := [3]uintptr{contextPlatform, f.platform, 0}
	d.context = a.create(a.createContext, uintptr(unsafe.Pointer(&properties[0])), 1, uintptr(unsafe.Pointer(&f.device)), 0, 0,
		uintptr(unsafe.Pointer(&code)))
	if code != success {
		return nil, code.error(name, a.createContext, "")
	}
	d.queue = a.create(a.createCommandQueue, d.context, d.id, queueProfiling, uintptr(unsafe.Pointer(&code)))
	if code != success {
		a.call(a.releaseContext, d.context)
		return nil, code.error(name, a.createCommandQueue, "")
	}
	return d, nil
}

// detect asks for what the device is.
func (d *Device) detect(f found) error {
	var failed error
	number := func(param uintptr) int64 {
		n, err := d.api.number(d.api.getDeviceInfo, d.name, d.id, param)
		if err != nil && failed == nil {
			failed = err
		}
		return int64(n)
	}
	text := func(param uintptr) string {
		s, err := d.api.text(d.api.getDeviceInfo, d.name, d.id, param)
		if err != nil && failed == nil {
			failed = err
		}
		return s
	}
	d.props = device.Props{
		Name:         d.name,
		Kind:         device.OpenCL,
		Model:        text(deviceName) + " (" + f.platformName + ")",
		Units:        int(number(deviceMaxComputeUnits)),
		MemoryBytes:  number(deviceGlobalMemSize),
		LineBytes:    int(number(deviceGlobalMemCachelineSz)),
		Architecture: text(deviceVersion),
		Features:     strings.Fields(text(deviceExtensions)),
		SharedBytes:  number(deviceLocalMemSize),
		BlockThreads: int(number(deviceMaxWorkGroupSize)),
	}
	// OpenCL has one size of "the" cache. On a CPU it is the last one; NVIDIA's driver adds up the first ones.
	if f.kind&typeCPU != 0 {
		d.props.L3Bytes = number(deviceGlobalMemCacheSize)
	}
	d.largest = number(deviceMaxMemAllocSize)
	switch extensions := " " + strings.Join(d.props.Features, " ") + " "; {
	case strings.Contains(extensions, " cl_nv_device_attribute_query "):
		d.props.Lanes = int(number(deviceWarpSizeNV))
		d.props.Architecture = fmt.Sprintf("sm_%d%d", number(deviceCCMajorNV), number(deviceCCMinorNV))
	case strings.Contains(extensions, " cl_amd_device_attribute_query "):
		d.props.Lanes = int(number(deviceWavefrontWidthAMD))
	}
	options := "-cl-std=CL1.2 -cl-kernel-arg-info"
	if number(deviceSingleFPConfig)&fpCorrectlyRounded != 0 {
		options += " -cl-fp32-correctly-rounded-divide-sqrt"
	}
	d.options = cString(options)
	return failed
}

// Name returns "opencl:0", …
func (d *Device) Name() string { return d.name }

// Kind returns device.OpenCL.
func (d *Device) Kind() device.Kind { return device.OpenCL }

// Props returns what the driver says of the device.
func (d *Device) Props() device.Props { return d.props }

// Usage counts the open allocations.
func (d *Device) Usage() device.Usage {
	return device.Usage{Buffers: d.buffers.Load(), Bytes: d.bytes.Load()}
}

// Stream returns the queue.
func (d *Device) Stream() device.Stream { return stream{d} }

// Close waits for the queue and releases the device and its kernels.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.compiling.Lock()
	defer d.compiling.Unlock()
	a := d.api
	err := a.call(a.finish, d.queue).error(d.name, a.finish, "")
	for _, k := range d.kernels {
		a.call(a.releaseKernel, k.handle)
	}
	clear(d.kernels)
	a.call(a.releaseCommandQueue, d.queue)
	a.call(a.releaseContext, d.context)
	return err
}

// open returns an error when the device has been closed.
func (d *Device) open(call string) error {
	if d.closed.Load() {
		return &device.Error{Device: d.name, Call: call, Err: device.ErrClosed}
	}
	return nil
}

// Kernel implements device.Launcher with the device's compiler.
func (d *Device) Kernel(p *device.Program) (device.Kernel, error) {
	d.compiling.Lock()
	defer d.compiling.Unlock()
	if err := d.open("Kernel"); err != nil {
		return nil, err
	}
	if k := d.kernels[p.Name]; k != nil {
		return k, nil
	}
	k, err := d.compile(p)
	if err != nil {
		return nil, err
	}
	d.kernels[p.Name] = k
	return k, nil
}

func (d *Device) compile(p *device.Program) (*kernel, error) {
	a := d.api
	source := append([]byte(p.Source), 0)
	text := &source[0]
	var pinned runtime.Pinner // of what is not itself an argument, but pointed to by one
	pinned.Pin(text)
	defer pinned.Unpin()
	var code status
	program := a.create(a.createProgramWithSource, d.context, 1, uintptr(unsafe.Pointer(&text)), 0, uintptr(unsafe.Pointer(&code)))
	if code != success {
		return nil, code.error(d.name, a.createProgramWithSource, "kernel "+p.Name)
	}
	defer func() { a.call(a.releaseProgram, program) }() // kernels keep what they need of it
	if s := a.call(a.buildProgram, program, 1, uintptr(unsafe.Pointer(&d.id)), uintptr(unsafe.Pointer(&d.options[0])), 0, 0); s != success {
		return nil, s.error(d.name, a.buildProgram, "kernel "+p.Name+": "+d.buildLog(program))
	}
	name := cString(p.Name)
	handle := a.create(a.createKernel, program, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&code)))
	if code != success {
		return nil, code.error(d.name, a.createKernel, "kernel "+p.Name)
	}
	k := &kernel{dev: d, name: p.Name, handle: handle}
	if err := k.inspect(); err != nil {
		a.call(a.releaseKernel, handle)
		return nil, err
	}
	return k, nil
}

// buildLog returns what the compiler said, and that it said nothing where that cannot be had.
func (d *Device) buildLog(program uintptr) string {
	const programBuildLog = 0x1183
	a := d.api
	var size uintptr
	if s := a.call(a.getProgramBuildInfo, program, d.id, programBuildLog, 0, 0, uintptr(unsafe.Pointer(&size))); s != success || size == 0 {
		return "no log"
	}
	log := make([]byte, size)
	if s := a.call(a.getProgramBuildInfo, program, d.id, programBuildLog, size, uintptr(unsafe.Pointer(&log[0])), 0); s != success {
		return "no log"
	}
	return goString(log)
}
