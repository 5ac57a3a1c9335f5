package device

import (
	"runtime"
	"unsafe"
)

// Launcher is a device that runs kernels compiled for it: a GPU, or what behaves like one.
type Launcher interface {
	Device

	// Kernel returns a kernel, compiled for the device when it is first asked for and kept until the
	// device is closed. An Error holds the compiler's log.
	Kernel(p *Program) (Kernel, error)
}

// Program is one kernel in the forms that drivers take. Package dialect makes it; kernels of the same
// Name are the same kernel.
type Program struct {
	Name   string // of the kernel, which is also the function's
	Source string // complete OpenCL C

	// PTX returns the PTX for the newest target that a device of compute capability
	// major.minor = cc/10 . cc%10 can run, or an error that wraps ErrUnsupported.
	PTX func(cc int) ([]byte, error)
}

// preparing is taken while a program is prepared: so many are at a time.
var preparing = make(chan struct{}, runtime.GOMAXPROCS(0))

// Prepare has a CUDA device compile programs in the background, about in this order: each takes a few hundredths of a second
// where the driver has not done so before. Kernel waits for one that is being compiled, and says what went wrong. Other devices do
// nothing.
func Prepare(d Device, programs ...*Program) {
	l, ok := d.(Launcher)
	if !ok || d.Kind() != CUDA {
		return
	}
	seen := map[string]bool{}
	for _, p := range programs {
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		go func() {
			preparing <- struct{}{}
			defer func() { <-preparing }()
			_, _ = l.Kernel(p)
		}()
	}
}

// Kernel is a compiled kernel.
type Kernel interface {
	// Launch puts the kernel on the device's stream and returns before it has run: grid blocks of block
	// threads each, with shared bytes of dynamic shared memory a block. The arguments are checked for
	// their number and sizes where the driver can. A grid of 0 blocks does nothing.
	Launch(grid int64, block, shared int, args ...Arg) error

	// Info returns what the compiler says of the kernel.
	Info() (KernelInfo, error)

	// Occupancy returns the blocks of block threads, with shared bytes of dynamic shared memory each, that
	// one unit of the device holds at a time; 0 where the driver does not know.
	Occupancy(block, shared int) (int, error)
}

// KernelInfo is what a compiled kernel needs. Zero means unknown.
type KernelInfo struct {
	Threads   int   // most threads in a block
	Registers int   // 32-bit registers of a thread
	Local     int64 // bytes of spilled memory of a thread
	Shared    int64 // bytes of static shared memory of a block
}

// Arg is an argument of a kernel. The zero Arg is a buffer that is not there.
type Arg struct {
	mem   Memory
	first int64 // element of mem that the kernel starts at
	bits  uint64
	size  int // of a number in bytes; 0 for a buffer
}

// Arg returns the buffer, which may be nil, as an argument of a kernel. In the kernel it is a pointer
// and the number of its first element, as the dialect's IN and OUT say.
func (b *Buffer[T]) Arg() Arg {
	if b == nil {
		return Arg{}
	}
	return Arg{mem: b.mem, first: b.first}
}

// Number is what a kernel takes by value.
type Number interface {
	int32 | int64 | float32 | float64
}

// Value returns a number as an argument of a kernel, where it has the C type of the same size.
func Value[T Number](v T) Arg {
	size := int(unsafe.Sizeof(v))
	if size == 4 {
		return Arg{bits: uint64(*(*uint32)(unsafe.Pointer(&v))), size: size}
	}
	return Arg{bits: *(*uint64)(unsafe.Pointer(&v)), size: size}
}

// Number returns the bits of a number and its size in bytes, which is 0 for a buffer; for drivers.
func (a Arg) Number() (bits uint64, size int) { return a.bits, a.size }

// Buffer returns the memory, nil where there is none, and the first element; for drivers.
func (a Arg) Buffer() (mem Memory, first int64) { return a.mem, a.first }

// On returns the argument with other memory in the place of a buffer's; for devices that work on others.
func (a Arg) On(mem Memory) Arg {
	a.mem = mem
	return a
}
