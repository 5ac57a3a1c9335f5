// Package device is the seam between operations and the places where they run.
//
// A Device is a value that says where data lives and where work runs: the host's CPU, a CUDA or an
// OpenCL device. Drivers (device/cpu and its siblings) implement Device; they allocate, copy and
// run, and know no operation. Operations (sddmm, spmm, dense) know this package and no driver.
// Package backend opens devices by name.
//
// Memory on a device is a Buffer[T]. Freeing is explicit: every Buffer is closed by whoever made
// it, closing twice is harmless, and Device.Usage counts what is still open.
//
// Work on a device is ordered: what is put on a device's Stream runs in the order in which it was
// put there. On the CPU it has run when the call returns.
package device
