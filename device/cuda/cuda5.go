//go:build cuda5

package cuda

import (
	"unsafe"

	"github.com/barnex/cuda5/cu"

	"sddmmkit/device"
)

// load returns the driver of this machine, over the cgo bindings of package cu.
func load() (driver, error) { return cuda5{}, nil }

// cuda5 is libcuda by way of package cu, whose functions panic with a cu.Result where CUDA returns an error.
type cuda5 struct{}

// try makes calls to package cu and returns what it panics with as an error of the function of CUDA behind it.
func try(name string, calls func()) (err error) {
	defer func() {
		if raised := recover(); raised != nil {
			r, ok := raised.(cu.Result)
			if !ok {
				panic(raised)
			}
			err = &device.Error{Call: name, Code: int(r), Name: r.String(), Err: result(r).class()}
		}
	}()
	calls()
	return nil
}

// lacks returns the error for a function of CUDA that package cu does not have.
func lacks(name string) error {
	return &device.Error{Call: name, Err: device.ErrUnsupported, Detail: "package cuda5 lacks it; build without the tag cuda5"}
}

func (cuda5) initialize() error { return try("cuInit", func() { cu.Init(0) }) }

func (cuda5) version() (v int, err error) {
	err = try("cuDriverGetVersion", func() { v = cu.Version() })
	return v, err
}

func (cuda5) deviceCount() (n int, err error) {
	err = try("cuDeviceGetCount", func() { n = cu.DeviceGetCount() })
	return n, err
}

func (cuda5) deviceGet(number int) (dev ordinal, err error) {
	err = try("cuDeviceGet", func() { dev = ordinal(cu.DeviceGet(number)) })
	return dev, err
}

func (cuda5) deviceName(dev ordinal) (name string, err error) {
	err = try("cuDeviceGetName", func() { name = cu.DeviceGetName(cu.Device(dev)) })
	return name, err
}

func (cuda5) deviceAttribute(a attribute, dev ordinal) (v int, err error) {
	if a == maxSharedOptIn {
		a = maxSharedPerBlock // more is asked for by cuFuncSetAttribute, which package cu lacks
	}
	err = try("cuDeviceGetAttribute", func() { v = cu.DeviceGetAttribute(cu.DeviceAttribute(a), cu.Device(dev)) })
	return v, err
}

func (cuda5) deviceTotalMem(dev ordinal) (bytes int64, err error) {
	err = try("cuDeviceTotalMem_v2", func() { bytes = cu.DeviceTotalMem(cu.Device(dev)) })
	return bytes, err
}

func (cuda5) deviceUUID(ordinal) (id [16]byte, err error) { return id, lacks("cuDeviceGetUuid_v2") }

func (cuda5) deviceCanAccessPeer(dev, peer ordinal) (can bool, err error) {
	err = try("cuDeviceCanAccessPeer", func() { can = cu.DeviceCanAccessPeer(cu.Device(dev), cu.Device(peer)) })
	return can, err
}

// contextRetain makes a context: package cu knows no primary ones.
func (cuda5) contextRetain(dev ordinal) (ctx context, err error) {
	err = try("cuCtxCreate", func() { ctx = context(cu.CtxCreate(cu.CTX_SCHED_AUTO, cu.Device(dev))) })
	return ctx, err
}

func (cuda5) contextRelease(_ ordinal, ctx context) error {
	return try("cuCtxDestroy", func() {
		c := cu.Context(ctx)
		cu.CtxDestroy(&c)
	})
}

func (cuda5) contextSetCurrent(ctx context) error {
	return try("cuCtxSetCurrent", func() { cu.CtxSetCurrent(cu.Context(ctx)) })
}

func (cuda5) memInfo() (free, total int64, err error) {
	err = try("cuMemGetInfo_v2", func() { free, total = cu.MemGetInfo() })
	return free, total, err
}

func (cuda5) memAlloc(bytes int64) (at address, err error) {
	err = try("cuMemAlloc_v2", func() { at = address(cu.MemAlloc(bytes)) })
	return at, err
}

func (cuda5) memFree(at address) error {
	return try("cuMemFree_v2", func() { cu.MemFree(cu.DevicePtr(at)) })
}

func (cuda5) poolCreate(ordinal, int64) (pool, error) { return 0, lacks("cuMemPoolCreate") }
func (cuda5) poolAlloc(pool, int64, stream) (address, error) {
	return 0, lacks("cuMemAllocFromPoolAsync")
}
func (cuda5) poolFree(address, stream) error { return lacks("cuMemFreeAsync") }
func (cuda5) poolTrim(pool) error            { return lacks("cuMemPoolTrimTo") }
func (cuda5) poolDestroy(pool) error         { return lacks("cuMemPoolDestroy") }

func (cuda5) hostAlloc(bytes int64) (p unsafe.Pointer, err error) {
	err = try("cuMemAllocHost_v2", func() { p = cu.MemAllocHost(bytes) })
	return p, err
}

func (cuda5) hostFree(p unsafe.Pointer) error {
	return try("cuMemFreeHost", func() { cu.MemFreeHost(p) })
}

func (cuda5) copyToDevice(dst address, src unsafe.Pointer, bytes int64, on stream) error {
	return try("cuMemcpyHtoDAsync_v2", func() { cu.MemcpyHtoDAsync(cu.DevicePtr(dst), src, bytes, cu.Stream(on)) })
}

func (cuda5) copyToHost(dst unsafe.Pointer, src address, bytes int64, on stream) error {
	return try("cuMemcpyDtoHAsync_v2", func() { cu.MemcpyDtoHAsync(dst, cu.DevicePtr(src), bytes, cu.Stream(on)) })
}

func (cuda5) copyOnDevice(dst, src address, bytes int64, on stream) error {
	return try("cuMemcpyDtoDAsync_v2", func() { cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), bytes, cu.Stream(on)) })
}

func (cuda5) fill(dst address, value byte, bytes int64, on stream) error {
	return try("cuMemsetD8Async", func() { cu.MemsetD8Async(cu.DevicePtr(dst), value, bytes, cu.Stream(on)) })
}

func (cuda5) compile([]byte) ([]byte, string, error) { return nil, "", lacks("cuLinkCreate_v2") }

func (cuda5) moduleLoad(image []byte) (m module, log string, err error) {
	err = try("cuModuleLoadData", func() { m = module(cu.ModuleLoadData(string(image))) })
	return m, "", err
}

// moduleUnload leaves the module to the end of its context, which no one else has: package cu cannot unload.
func (cuda5) moduleUnload(module) error { return nil }

func (cuda5) moduleFunction(m module, name string) (f function, err error) {
	err = try("cuModuleGetFunction", func() { f = function(cu.ModuleGetFunction(cu.Module(m), name)) })
	return f, err
}

func (cuda5) functionAttribute(a attribute, f function) (v int, err error) {
	err = try("cuFuncGetAttribute", func() { v = cu.FuncGetAttribute(cu.FunctionAttribute(a), cu.Function(f)) })
	return v, err
}

func (cuda5) setFunctionAttribute(function, attribute, int) error { return lacks("cuFuncSetAttribute") }

func (cuda5) occupancy(function, int, int) (int, error) {
	return 0, lacks("cuOccupancyMaxActiveBlocksPerMultiprocessor")
}

func (cuda5) launch(f function, grid, block, shared uint32, on stream, parameters []uint64, _ bool) error {
	pointers := make([]unsafe.Pointer, len(parameters))
	for i := range parameters {
		pointers[i] = unsafe.Pointer(&parameters[i]) // package cu copies the eight bytes there
	}
	return try("cuLaunchKernel", func() {
		cu.LaunchKernel(cu.Function(f), int(grid), 1, 1, int(block), 1, 1, int(shared), cu.Stream(on), pointers)
	})
}

func (cuda5) streamCreate() (s stream, err error) {
	err = try("cuStreamCreate", func() { s = stream(cu.StreamCreate()) })
	return s, err
}

func (cuda5) streamSynchronize(s stream) error {
	return try("cuStreamSynchronize", func() { cu.Stream(s).Synchronize() })
}

func (cuda5) streamDestroy(s stream) error {
	return try("cuStreamDestroy_v2", func() {
		c := cu.Stream(s)
		c.Destroy()
	})
}

func (cuda5) eventCreate() (event, error)     { return 0, lacks("cuEventCreate") }
func (cuda5) eventRecord(event, stream) error { return lacks("cuEventRecord") }
func (cuda5) eventSynchronize(event) error    { return lacks("cuEventSynchronize") }
func (cuda5) eventDestroy(event) error        { return lacks("cuEventDestroy_v2") }
func (cuda5) eventElapsed(event, event) (float32, error) {
	return 0, lacks("cuEventElapsedTime")
}
