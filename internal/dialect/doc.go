// Package dialect turns kernels into programs for GPUs.
//
// Kernels are written once, in C with the macros of dialect.h, and compile as CUDA and as OpenCL C. A
// kernel file is compiled once per variant, with macros defined before it; the variant's name is the
// name of the kernel, of its PTX file and of the function in both. OpenCL devices compile the source
// when they run it. For CUDA, go run ./internal/ptx compiles each variant with NVRTC for each of Targets, and
// the PTX is embedded.
package dialect
