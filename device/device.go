package device

import (
	"context"
	"time"
)

// Kind is the family of a device; operations choose their code path by it.
type Kind string

// The kinds of devices.
const (
	CPU    Kind = "cpu"
	CUDA   Kind = "cuda"
	OpenCL Kind = "opencl"
)

// Device is a place where data lives and work runs. Its methods may be called from any goroutine.
type Device interface {
	Name() string   // "cpu", "cuda:0": the name that backend.Open takes
	Kind() Kind     // the family
	Props() Props   // what it can do; the models are fed from it
	Usage() Usage   // open allocations, for leak checks
	Stream() Stream // the device's queue of work

	// Alloc returns bytes bytes of memory with unspecified contents, or an error that
	// wraps ErrOutOfMemory and says how much was asked for and how much there is.
	Alloc(bytes int64) (Memory, error)

	// Close releases the device. Buffers must be closed before.
	Close() error
}

// Host is a device whose memory the host addresses and whose kernels are Go functions.
type Host interface {
	Device

	// Threads is the number of goroutines that Run uses.
	Threads() int

	// Run calls body(unit) for every unit in [0, units), several at the same time, neighbours by the same goroutine
	// where that keeps all busy. It returns ctx's error when it stopped early.
	Run(ctx context.Context, units int, body func(unit int)) error

	// RunWorkers is Run with the number of the goroutine that calls body, below Threads: what it keeps under that number no other one uses meanwhile.
	RunWorkers(ctx context.Context, units int, body func(worker, unit int)) error

	// Borrow makes Memory of the caller's bytes, without a copy. The caller keeps them
	// alive and in place until the Memory is closed.
	Borrow(b []byte) Memory
}

// Memory is one allocation on a device. Buffer gives it a type.
type Memory interface {
	Device() Device
	Bytes() int64
	HostBytes() []byte                                                   // the memory itself on a Host, nil elsewhere
	CopyFrom(offset int64, src []byte) error                             // host to device
	CopyTo(dst []byte, offset int64) error                               // device to host
	Zero(offset, bytes int64) error                                      // fill with zero bits
	CopyOnDevice(offset int64, src Memory, srcOffset, bytes int64) error // within the device
	Closed() bool
	Close() error // frees; closing again does nothing
}

// Stream is a device's queue of work.
type Stream interface {
	Synchronize() error     // waits until all that was put on it has run
	Record() (Event, error) // marks the present end of the queue
}

// Event is a mark in a Stream, for timing as the device sees it.
type Event interface {
	// Since returns the time between an earlier event of the same stream and this one,
	// waiting until both have been reached.
	Since(earlier Event) (time.Duration, error)
	Close() error
}

// Props describes a device. Zero means unknown.
type Props struct {
	Name         string   `json:"name"`          // "cpu", "cuda:0"
	Kind         Kind     `json:"kind"`          //
	Model        string   `json:"model"`         // what the vendor calls it
	Units        int      `json:"units"`         // cores, multiprocessors, compute units
	Threads      int      `json:"threads"`       // worker threads in use (CPU)
	MemoryBytes  int64    `json:"memory_bytes"`  // total
	LineBytes    int      `json:"line_bytes"`    // cache line
	L1Bytes      int64    `json:"l1_bytes"`      // data, per core
	L2Bytes      int64    `json:"l2_bytes"`      // per core on a CPU, whole on a GPU
	L3Bytes      int64    `json:"l3_bytes"`      // shared
	Architecture string   `json:"architecture"`  // "amd64", "sm_90"
	Features     []string `json:"features"`      // instruction sets
	SharedBytes  int64    `json:"shared_bytes"`  // shared memory that one block of threads may ask for (GPU)
	BlockThreads int      `json:"block_threads"` // most threads of a block (GPU)
	Lanes        int      `json:"lanes"`         // threads that run in step: the warp (GPU)
}

// Usage counts open allocations.
type Usage struct {
	Buffers int64 // open Memory values, borrowed ones too
	Bytes   int64 // bytes that the device holds for them
}
