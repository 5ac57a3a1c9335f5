package cuda

import (
	"unsafe"

	"sddmmkit/device"
)

// Handles of the driver.
type (
	address   uint64  // CUdeviceptr
	context   uintptr // CUcontext
	stream    uintptr // CUstream
	event     uintptr // CUevent
	pool      uintptr // CUmemoryPool
	module    uintptr // CUmodule
	function  uintptr // CUfunction
	ordinal   int32   // CUdevice
	attribute int32   // CUdevice_attribute or CUfunction_attribute
)

// driver is what the package needs of CUDA. Errors are *device.Error without the name of the device. Methods
// from memInfo on work in the context that is current on the calling thread.
type driver interface {
	initialize() error
	version() (int, error) // 1000·major + 10·minor
	deviceCount() (int, error)
	deviceGet(number int) (ordinal, error)
	deviceName(dev ordinal) (string, error)
	deviceAttribute(a attribute, dev ordinal) (int, error)
	deviceTotalMem(dev ordinal) (int64, error)
	deviceUUID(dev ordinal) ([16]byte, error)
	deviceCanAccessPeer(dev, peer ordinal) (bool, error)
	contextRetain(dev ordinal) (context, error)
	contextRelease(dev ordinal, ctx context) error
	contextSetCurrent(ctx context) error

	memInfo() (free, total int64, err error)
	memAlloc(bytes int64) (address, error)
	memFree(at address) error
	// A pool keeps up to so many bytes of freed memory for the next allocation. Memory is there, and goes, when the stream gets to it.
	poolCreate(dev ordinal, keep int64) (pool, error)
	poolAlloc(p pool, bytes int64, on stream) (address, error)
	poolFree(at address, on stream) error
	poolTrim(p pool) error // gives back what is kept
	poolDestroy(p pool) error
	hostAlloc(bytes int64) (unsafe.Pointer, error) // page-locked memory of the host
	hostFree(p unsafe.Pointer) error

	// Copies and fills are put on the stream. Memory of the host stays in place until they have run.
	copyToDevice(dst address, src unsafe.Pointer, bytes int64, on stream) error
	copyToHost(dst unsafe.Pointer, src address, bytes int64, on stream) error
	copyOnDevice(dst, src address, bytes int64, on stream) error
	fill(dst address, value byte, bytes int64, on stream) error

	// compile makes machine code of PTX, which moduleLoad takes too. It runs beside other calls, and moduleLoad keeps them
	// waiting while it compiles.
	compile(ptx []byte) (code []byte, log string, err error)   // log is the compiler's, also of an error
	moduleLoad(image []byte) (m module, log string, err error) // the same
	moduleUnload(m module) error
	moduleFunction(m module, name string) (function, error)
	functionAttribute(a attribute, f function) (int, error)
	setFunctionAttribute(f function, a attribute, value int) error
	occupancy(f function, block, shared int) (int, error)
	// launch takes one word for each parameter of the kernel, which reads as much of it as it declares. early allows that the
	// kernel starts before the one launched before it has ended, for which it waits itself.
	launch(f function, grid, block, shared uint32, on stream, parameters []uint64, early bool) error

	streamCreate() (stream, error)
	streamSynchronize(s stream) error
	streamDestroy(s stream) error
	eventCreate() (event, error)
	eventRecord(e event, on stream) error
	eventSynchronize(e event) error
	eventElapsed(start, end event) (milliseconds float32, err error)
	eventDestroy(e event) error
}

// Attributes of devices and functions, as numbered in cuda.h.
const (
	maxBlockThreads     attribute = 1  // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	maxGrid             attribute = 5  // CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X
	maxSharedPerBlock   attribute = 8  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
	warpSize            attribute = 10 // CU_DEVICE_ATTRIBUTE_WARP_SIZE
	multiprocessorCount attribute = 16 // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	l2CacheSize         attribute = 38 // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
	capabilityMajor     attribute = 75 // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	capabilityMinor     attribute = 76 // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
	maxSharedOptIn      attribute = 97 // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

	functionMaxThreads    attribute = 0 // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	functionShared        attribute = 1 // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
	functionLocal         attribute = 3 // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
	functionRegisters     attribute = 4 // CU_FUNC_ATTRIBUTE_NUM_REGS
	functionDynamicShared attribute = 8 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
)

// oldest is the oldest version of CUDA that a driver must support.
const oldest = 12000

// result is a CUresult.
type result int32

// Results that mean more than "failed".
const (
	success                result = 0
	outOfMemory            result = 2
	stubLibrary            result = 34
	deviceUnavailable      result = 46
	noDevice               result = 100
	invalidDevice          result = 101
	noBinaryForGPU         result = 209
	unsupportedPTXVersion  result = 222
	notSupported           result = 801
	systemNotReady         result = 802
	systemDriverMismatch   result = 803
	compatibilityForbidden result = 804
)

// class returns the error of package device that r is an instance of, or nil.
func (r result) class() error {
	switch r {
	case outOfMemory:
		return device.ErrOutOfMemory
	case stubLibrary, deviceUnavailable, noDevice, invalidDevice, systemNotReady, systemDriverMismatch, compatibilityForbidden:
		return device.ErrUnavailable
	case noBinaryForGPU, unsupportedPTXVersion, notSupported:
		return device.ErrUnsupported
	}
	return nil
}
