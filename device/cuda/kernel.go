package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sddmmkit/device"
)

// kernels are those of a device that have been asked for. Several may be compiled at the same time.
type kernels struct {
	mu     sync.Mutex
	byName map[string]*compiling
}

// compiling is a kernel, or will be one.
type compiling struct {
	mu     sync.Mutex // held while it is compiled
	kernel *kernel    // nil before, and after a failure
}

// named returns the kernel of that name, which may have to be compiled.
func (ks *kernels) named(name string) *compiling {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	c := ks.byName[name]
	if c == nil {
		c = &compiling{}
		ks.byName[name] = c
	}
	return c
}

// kernel is a function of a module, which holds nothing else.
type kernel struct {
	dev      *Device
	name     string
	module   module
	function function
	info     device.KernelInfo
	sizes    []int // of the parameters in bytes; nil where they are not known
	early    bool  // whether it waits for earlier kernels by itself

	mu      sync.Mutex
	dynamic int // dynamic shared memory that a block may ask for so far
}

// Kernel implements device.Launcher. The driver compiles PTX to the machine code of the GPU, and keeps that in a cache
// of its own on disk.
func (d *Device) Kernel(p *device.Program) (device.Kernel, error) {
	c := d.kernels.named(p.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kernel != nil {
		return c.kernel, nil
	}
	if p.PTX == nil {
		return nil, d.failed("Kernel", device.ErrUnsupported, "%s has no PTX", p.Name)
	}
	ptx, err := p.PTX(d.cc)
	if err != nil {
		return nil, err
	}
	k := &kernel{dev: d, name: p.Name, sizes: parameterSizes(ptx, p.Name), early: bytes.Contains(ptx, []byte("griddepcontrol.wait"))}
	err = d.do(func() error {
		if err := k.load(ptx); err != nil {
			return err
		}
		c.kernel = k // in here, where Close cannot be at work
		return nil
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

// load compiles the kernel. The context must be current.
func (k *kernel) load(ptx []byte) (err error) {
	drv := k.dev.drv
	image, log, err := drv.compile(ptx)
	if errors.Is(err, device.ErrUnsupported) {
		image = ptx
	} else if err != nil {
		return explained(err, "kernel "+k.name, log)
	}
	if k.module, log, err = drv.moduleLoad(image); err != nil {
		return explained(err, "kernel "+k.name, log)
	}
	defer func() {
		if err != nil {
			err = firstError(explained(err, "kernel "+k.name, ""), drv.moduleUnload(k.module))
		}
	}()
	if k.function, err = drv.moduleFunction(k.module, k.name); err != nil {
		return err
	}
	get := func(a attribute) int {
		v, e := drv.functionAttribute(a, k.function)
		if err == nil {
			err = e
		}
		return v
	}
	k.info = device.KernelInfo{Threads: get(functionMaxThreads), Registers: get(functionRegisters),
		Local: int64(get(functionLocal)), Shared: int64(get(functionShared))}
	k.dynamic = get(functionDynamicShared)
	return err
}

// explained adds what the error is about, and a compiler's log, to an error of the driver.
func explained(err error, what, log string) error {
	var e *device.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", what, err)
	}
	out := *e
	out.Detail = what
	if e.Detail != "" {
		out.Detail += ": " + e.Detail
	}
	if result(e.Code) == unsupportedPTXVersion {
		out.Detail += "; the PTX is newer than the NVIDIA driver, install a newer one"
	}
	if log != "" {
		out.Detail += "\n" + log
	}
	return &out
}

// unload gives the modules back; the stream must be idle and the context current.
func (ks *kernels) unload(drv driver) error {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	var first error
	for _, c := range ks.byName {
		if c.kernel != nil {
			first = firstError(first, drv.moduleUnload(c.kernel.module))
		}
	}
	clear(ks.byName)
	return first
}

// Info implements device.Kernel.
func (k *kernel) Info() (device.KernelInfo, error) { return k.info, nil }

// Occupancy implements device.Kernel.
func (k *kernel) Occupancy(block, shared int) (blocks int, err error) {
	err = k.dev.do(func() (err error) {
		if err = k.reserve("Occupancy", block, shared); err == nil {
			blocks, err = k.dev.drv.occupancy(k.function, block, shared)
		}
		return err
	})
	if errors.Is(err, device.ErrUnsupported) {
		return 0, nil
	}
	return blocks, err
}

// Launch implements device.Kernel. Parameters are checked against the kernel's declaration.
func (k *kernel) Launch(grid int64, block, shared int, args ...device.Arg) error {
	words, err := k.words(args)
	if err != nil {
		return err
	}
	if grid < 0 || grid > k.dev.maxGrid {
		return k.dev.failed("Launch", nil, "kernel %s with %d blocks; want 0 to %d", k.name, grid, k.dev.maxGrid)
	}
	return k.dev.do(func() error {
		if err := k.reserve("Launch", block, shared); err != nil || grid == 0 {
			return err
		}
		if err := k.dev.drv.launch(k.function, uint32(grid), uint32(block), uint32(shared), k.dev.stream, words, k.early); err != nil {
			return explained(err, fmt.Sprintf("kernel %s with %d blocks of %d threads and %d bytes of shared memory", k.name, grid, block, shared), "")
		}
		return nil
	})
}

// words returns the values of the parameters that args stand for.
func (k *kernel) words(args []device.Arg) ([]uint64, error) {
	words, sizes := make([]uint64, 0, 2*len(args)), make([]int, 0, 2*len(args))
	for i, a := range args {
		if bits, size := a.Number(); size > 0 {
			words, sizes = append(words, bits), append(sizes, size)
			continue
		}
		mem, first := a.Buffer()
		at := address(0)
		if mem != nil {
			m, ok := mem.(*memory)
			if !ok || m.dev != k.dev {
				return nil, &device.MismatchError{Op: "Launch", A: "kernel " + k.name, B: fmt.Sprintf("argument %d", i), OnA: k.dev.Name(), OnB: mem.Device().Name()}
			}
			if m.Closed() {
				return nil, k.dev.failed("Launch", device.ErrClosed, "kernel %s, argument %d", k.name, i)
			}
			at = m.at
		}
		words, sizes = append(words, uint64(at), uint64(first)), append(sizes, 8, 8)
	}
	if k.sizes != nil && !slices.Equal(sizes, k.sizes) {
		return nil, k.dev.failed("Launch", nil, "kernel %s takes parameters of %d bytes and was given %d; a buffer is two of 8", k.name, k.sizes, sizes)
	}
	return words, nil
}

// reserve checks the size of a block and lets it have its dynamic shared memory: more than what a kernel may
// use by default must be asked for.
func (k *kernel) reserve(call string, block, shared int) error {
	if block < 1 || block > k.info.Threads {
		return k.dev.failed(call, nil, "kernel %s with blocks of %d threads; want 1 to %d", k.name, block, k.info.Threads)
	}
	if most := k.dev.props.SharedBytes - k.info.Shared; shared < 0 || int64(shared) > most {
		return k.dev.failed(call, device.ErrUnsupported, "kernel %s with %d bytes of dynamic shared memory; want 0 to %d", k.name, shared, most)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if shared <= k.dynamic {
		return nil
	}
	if err := k.dev.drv.setFunctionAttribute(k.function, functionDynamicShared, shared); err != nil {
		return explained(err, fmt.Sprintf("kernel %s with %d bytes of dynamic shared memory", k.name, shared), "")
	}
	k.dynamic = shared
	return nil
}
