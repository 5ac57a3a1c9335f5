// Package cuda is the driver of NVIDIA's GPUs.
//
// It calls the CUDA driver (libcuda, which comes with the graphics driver) and needs no toolkit: kernels come as
// PTX, which the driver compiles. The library is opened at run time, without cgo; the build tag cuda5 takes the
// cgo bindings of github.com/barnex/cuda5 in its place, which lack events, memory pools, dynamic shared
// memory beyond the default and the compiler's log (docs/adr/0009-cuda-bindings.md).
//
// A Device works in the GPU's primary context and puts all its work on one stream, in order. Contexts belong to
// threads of the operating system, so every method holds its thread while it makes the context current and calls
// the driver: methods may be called from any goroutine, and no goroutine has to be pinned.
//
// Memory comes from a pool of the driver, which keeps some of what is closed for what is allocated next; closing does not
// wait for the work that still uses it.
//
// Launches, fills and copies within the device return before they have run. What goes wrong in them is
// reported by the next call that waits.
package cuda
