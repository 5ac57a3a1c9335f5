package opencl

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"sddmmkit/device"
)

// kernel is a cl_kernel.
type kernel struct {
	dev    *Device
	name   string
	handle uintptr
	params []param
	info   device.KernelInfo
	launch sync.Mutex // arguments are set one by one, and belong to the kernel
}

// param is what a kernel takes: a buffer, a number or, as the last one, dynamic shared memory.
type param struct {
	buffer, shared bool
	size           int // of a number in bytes; 0 where the compiler does not tell
}

var sizes = map[string]int{"int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8, "double": 8}

// inspect asks the compiler for the kernel's parameters and needs.
func (k *kernel) inspect() error {
	const (
		kernelNumArgs        = 0x1191
		kernelWorkGroupSize  = 0x11b0
		kernelLocalMemSize   = 0x11b2
		kernelPrivateMemSize = 0x11b4
	)
	a, d := k.dev.api, k.dev
	n, err := a.number(a.getKernelInfo, d.name, k.handle, kernelNumArgs)
	if err != nil {
		return err
	}
	k.params = make([]param, n)
	for i := range k.params {
		if err := k.inspectParam(uintptr(i)); err != nil {
			return err
		}
	}
	for _, q := range []struct {
		param uintptr
		set   func(uint64)
	}{
		{kernelWorkGroupSize, func(v uint64) { k.info.Threads = int(v) }},
		{kernelLocalMemSize, func(v uint64) { k.info.Shared = int64(v) }},
		{kernelPrivateMemSize, func(v uint64) { k.info.Local = int64(v) }},
	} {
		var value uint64
		if s := a.call(a.getKernelWorkGroupInfo, k.handle, d.id, q.param, unsafe.Sizeof(value), uintptr(unsafe.Pointer(&value)), 0); s != success {
			return s.error(d.name, a.getKernelWorkGroupInfo, "kernel "+k.name)
		}
		q.set(value)
	}
	return nil
}

func (k *kernel) inspectParam(i uintptr) error {
	const (
		argAddressQualifier = 0x1196
		argTypeName         = 0x1198
		addressLocal        = 0x119c
		addressPrivate      = 0x119e
	)
	a, d := k.dev.api, k.dev
	var space uint32
	if s := a.call(a.getKernelArgInfo, k.handle, i, argAddressQualifier, unsafe.Sizeof(space), uintptr(unsafe.Pointer(&space)), 0); s != success {
		return s.error(d.name, a.getKernelArgInfo, "kernel "+k.name)
	}
	p := &k.params[i]
	switch space {
	case addressLocal:
		p.shared = true
	case addressPrivate:
		var name [64]byte
		if s := a.call(a.getKernelArgInfo, k.handle, i, argTypeName, uintptr(len(name)), uintptr(unsafe.Pointer(&name[0])), 0); s != success {
			return s.error(d.name, a.getKernelArgInfo, "kernel "+k.name)
		}
		p.size = sizes[goString(name[:])]
	default:
		p.buffer = true
	}
	return nil
}

// fail returns an error of the driver's own checks.
func (k *kernel) fail(class error, format string, args ...any) error {
	return &device.Error{Device: k.dev.name, Call: "Launch", Err: class, Detail: "kernel " + k.name + ": " + fmt.Sprintf(format, args...)}
}

// Launch implements device.Kernel.
func (k *kernel) Launch(grid int64, block, shared int, args ...device.Arg) error {
	d, a := k.dev, k.dev.api
	if err := d.open("Launch"); err != nil {
		return err
	}
	if grid < 0 || block < 1 || shared < 0 || grid > math.MaxInt64/int64(block) {
		return k.fail(device.ErrUnsupported, "%d blocks of %d threads with %d bytes of shared memory", grid, block, shared)
	}
	if limit := d.props.SharedBytes; int64(shared) > limit-k.info.Shared {
		return k.fail(device.ErrUnsupported, "a block wants %d bytes of dynamic shared memory beside %d; the device has %d", shared, k.info.Shared, limit)
	}
	values, err := k.values(args)
	if err != nil || grid == 0 {
		return err
	}
	k.launch.Lock()
	defer k.launch.Unlock()
	for i, p := range k.params {
		v, code := &values[i], success
		if p.shared {
			code = a.call(a.setKernelArg, k.handle, uintptr(i), uintptr(max(shared, 16)), 0) // none at all would be an error
		} else {
			code = a.call(a.setKernelArg, k.handle, uintptr(i), v.size, uintptr(unsafe.Pointer(&v.bits)))
		}
		if code != success {
			return code.error(d.name, a.setKernelArg, fmt.Sprintf("kernel %s: parameter %d of %d", k.name, i+1, len(k.params)))
		}
	}
	global, local := uintptr(grid)*uintptr(block), uintptr(block)
	s := a.call(a.enqueueNDRangeKernel, d.queue, k.handle, 1, 0, uintptr(unsafe.Pointer(&global)), uintptr(unsafe.Pointer(&local)), 0, 0, 0)
	return s.error(d.name, a.enqueueNDRangeKernel, fmt.Sprintf("kernel %s: %d blocks of %d threads with %d bytes of shared memory", k.name, grid, block, shared))
}

// value is what a parameter is set to: a number's bits, or a cl_mem.
type value struct {
	bits uint64
	size uintptr
}

// values checks arguments and returns the values of the kernel's parameters.
func (k *kernel) values(args []device.Arg) ([]value, error) {
	const pointer, long = 8, 8
	out := make([]value, 0, len(k.params)+2)
	for n, arg := range args {
		is := "a buffer"
		bits, size := arg.Number()
		if size > 0 {
			is = fmt.Sprintf("a number of %d bytes", size)
		}
		if len(out) >= len(k.params) || k.params[len(out)].shared {
			return nil, k.fail(nil, "argument %d of %d is %s, and the kernel takes no more than %d", n+1, len(args), is, n)
		}
		p := k.params[len(out)]
		if p.buffer != (size == 0) || p.size > 0 && p.size != size {
			return nil, k.fail(nil, "argument %d of %d is %s; the kernel takes %s", n+1, len(args), is, p)
		}
		if size > 0 {
			out = append(out, value{bits, uintptr(size)})
			continue
		}
		mem, first := arg.Buffer()
		var handle uintptr
		if mem != nil {
			m, ok := mem.(*memory)
			if !ok || m.dev != k.dev {
				return nil, &device.MismatchError{Op: "Launch", A: "kernel " + k.name, B: fmt.Sprint("argument ", n+1), OnA: k.dev.name, OnB: mem.Device().Name()}
			}
			if m.Closed() {
				return nil, k.fail(device.ErrClosed, "argument %d of %d", n+1, len(args))
			}
			handle = m.handle
		}
		out = append(out, value{uint64(handle), pointer}, value{uint64(first), long})
	}
	if last := len(k.params) - 1; last >= 0 && len(out) == last && k.params[last].shared {
		out = append(out, value{})
	}
	if len(out) != len(k.params) {
		return nil, k.fail(nil, "%d arguments are too few; the next is %s", len(args), k.params[len(out)])
	}
	return out, nil
}

// String says what a parameter is, for errors.
func (p param) String() string {
	switch {
	case p.buffer:
		return "a buffer"
	case p.shared:
		return "shared memory"
	case p.size == 0:
		return "a number"
	}
	return fmt.Sprintf("a number of %d bytes", p.size)
}

// Info returns what the compiler says of the kernel; OpenCL does not tell of registers.
func (k *kernel) Info() (device.KernelInfo, error) { return k.info, nil }

// Occupancy returns 0: OpenCL does not tell.
func (k *kernel) Occupancy(block, shared int) (int, error) { return 0, nil }
