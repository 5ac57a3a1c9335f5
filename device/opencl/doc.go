// Package opencl is the driver of OpenCL devices, version 1.2 or later: GPUs, and CPUs by way of PoCL.
//
// It loads libOpenCL, the loader of the installed drivers, when the first device is opened; without it, or
// without a driver, Open says what is missing. Kernels are compiled by the device's own compiler from the
// OpenCL C of their Program.
//
// Each device has one context and one queue, in order and with profiling, so that events carry the device's own time.
// All methods may be called from several goroutines.
package opencl
