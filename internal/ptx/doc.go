// Command ptx compiles every variant of every kernels package to PTX, for each target that the variant is
// built for, and writes it where the package embeds it. It needs NVRTC and no GPU:
//
//	NVRTC=…/libnvrtc.so.12 go run ./internal/ptx
//
// from the module's root. Without NVRTC the loader looks for libnvrtc.so.12. The library comes with the CUDA
// toolkit and with the Python package nvidia-cuda-nvrtc-cu12, which .ci/run downloads. Its version is part of the
// generator: PTX from another one is refused, because it would differ and might be too new for older drivers.
//
// A package of kernels is entered in the list packages. Before its first run it needs an empty file
// ptx/first.ptx, for go:embed wants something to embed; the run removes it.
package main
