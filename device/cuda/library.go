package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/dl"
)

// libraryNames are what the driver's library is called; the first is the one that programs should link to.
var libraryNames = []string{"libcuda.so.1", "libcuda.so"}

// symbols are the functions of libcuda that library calls, with the versions whose prototypes stand at their calls.
var symbols = []string{
	"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
	"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceGetUuid_v2", "cuDeviceCanAccessPeer",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2",
	"cuMemPoolCreate", "cuMemPoolSetAttribute", "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuMemPoolTrimTo", "cuMemPoolDestroy", "cuMemAllocHost_v2", "cuMemFreeHost",
	"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async",
	"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy",
	"cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute",
	"cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuLaunchKernelEx",
	"cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2",
	"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime", "cuEventDestroy_v2",
}

// library is libcuda, opened at run time.
type library map[string]uintptr // addresses of symbols

// openLibrary opens libcuda and finds all symbols in it. Errors wrap device.ErrUnavailable.
func openLibrary(open dl.Opener) (driver, error) {
	lib, err := open(libraryNames...)
	if err != nil {
		return nil, &device.Error{Device: "cuda", Call: "open " + libraryNames[0], Err: device.ErrUnavailable,
			Detail: fmt.Sprintf("the NVIDIA driver is not installed, install it to use the GPU (%v)", err)}
	}
	l := library{}
	for _, name := range symbols {
		if l[name], err = lib.Sym(name); err != nil {
			return nil, errors.Join(&device.Error{Device: "cuda", Call: name, Err: device.ErrUnavailable,
				Detail: fmt.Sprintf("the NVIDIA driver is too old, install one for CUDA %s or newer (%v)", versionText(oldest), err)}, lib.Close())
		}
	}
	return l, nil
}

// call calls a function of libcuda whose result is a CUresult. Arguments that point to memory of Go do so in an
// expression uintptr(unsafe.Pointer(p)) that stands in the call itself, which keeps the memory in place meanwhile.
//
//go:uintptrescapes
func call(l library, name string, args ...uintptr) error {
	if r := result(int32(dl.Call(l[name], args...))); r != success {
		return l.failure(name, r)
	}
	return nil
}

// failure returns the error for a result.
func (l library) failure(name string, r result) error {
	e := &device.Error{Call: name, Code: int(r), Name: "unknown error", Err: r.class()}
	// CUresult cuGetErrorName(CUresult error, const char **pStr)
	var text *byte
	if dl.Call(l["cuGetErrorName"], uintptr(r), uintptr(unsafe.Pointer(&text))); text != nil {
		e.Name = cString(text)
	}
	// CUresult cuGetErrorString(CUresult error, const char **pStr)
	text = nil
	if dl.Call(l["cuGetErrorString"], uintptr(r), uintptr(unsafe.Pointer(&text))); text != nil {
		e.Detail = cString(text)
	}
	return e
}

// cString copies a string of C.
func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// CUresult cuInit(unsigned int Flags)
func (l library) initialize() error { return call(l, "cuInit", 0) }

// CUresult cuDriverGetVersion(int *driverVersion)
func (l library) version() (int, error) {
	var v int32
	err := call(l, "cuDriverGetVersion", uintptr(unsafe.Pointer(&v)))
	return int(v), err
}

// CUresult cuDeviceGetCount(int *count)
func (l library) deviceCount() (int, error) {
	var n int32
	err := call(l, "cuDeviceGetCount", uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// CUresult cuDeviceGet(CUdevice *device, int ordinal)
func (l library) deviceGet(number int) (ordinal, error) {
	var dev ordinal
	err := call(l, "cuDeviceGet", uintptr(unsafe.Pointer(&dev)), uintptr(number))
	return dev, err
}

// CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
func (l library) deviceName(dev ordinal) (string, error) {
	var name [256]byte
	err := call(l, "cuDeviceGetName", uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(dev))
	text, _, _ := strings.Cut(string(name[:]), "\x00")
	return text, err
}

// CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
func (l library) deviceAttribute(a attribute, dev ordinal) (int, error) {
	var v int32
	err := call(l, "cuDeviceGetAttribute", uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(dev))
	return int(v), err
}

// CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
func (l library) deviceTotalMem(dev ordinal) (int64, error) {
	var bytes uintptr
	err := call(l, "cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(&bytes)), uintptr(dev))
	return int64(bytes), err
}

// CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
func (l library) deviceUUID(dev ordinal) ([16]byte, error) {
	var id [16]byte
	err := call(l, "cuDeviceGetUuid_v2", uintptr(unsafe.Pointer(&id)), uintptr(dev))
	return id, err
}

// CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
func (l library) deviceCanAccessPeer(dev, peer ordinal) (bool, error) {
	var can int32
	err := call(l, "cuDeviceCanAccessPeer", uintptr(unsafe.Pointer(&can)), uintptr(dev), uintptr(peer))
	return can != 0, err
}

// CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
func (l library) contextRetain(dev ordinal) (context, error) {
	var ctx context
	err := call(l, "cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&ctx)), uintptr(dev))
	return ctx, err
}

// CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
func (l library) contextRelease(dev ordinal, _ context) error {
	return call(l, "cuDevicePrimaryCtxRelease_v2", uintptr(dev))
}

// CUresult cuCtxSetCurrent(CUcontext ctx)
func (l library) contextSetCurrent(ctx context) error {
	return call(l, "cuCtxSetCurrent", uintptr(ctx))
}

// CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
func (l library) memInfo() (free, total int64, err error) {
	var f, t uintptr
	err = call(l, "cuMemGetInfo_v2", uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
func (l library) memAlloc(bytes int64) (address, error) {
	var at address
	err := call(l, "cuMemAlloc_v2", uintptr(unsafe.Pointer(&at)), uintptr(bytes))
	return at, err
}

// CUresult cuMemFree_v2(CUdeviceptr dptr)
func (l library) memFree(at address) error { return call(l, "cuMemFree_v2", uintptr(at)) }

// poolProperties is a CUmemPoolProps.
type poolProperties struct {
	allocType    int32 // CU_MEM_ALLOCATION_TYPE_PINNED
	handleTypes  int32
	locationType int32 // CU_MEM_LOCATION_TYPE_DEVICE
	device       ordinal
	security     uintptr
	maxSize      uintptr
	_            [56]byte
}

const poolReleaseThreshold = 4 // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

// CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
func (l library) poolCreate(dev ordinal, keep int64) (pool, error) {
	properties := poolProperties{allocType: 1, locationType: 1, device: dev}
	var p pool
	if err := call(l, "cuMemPoolCreate", uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&properties))); err != nil {
		return 0, err
	}
	if err := l.poolKeep(p, keep); err != nil {
		return 0, firstError(err, l.poolDestroy(p))
	}
	return p, nil
}

// CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
func (l library) poolKeep(p pool, bytes int64) error {
	return call(l, "cuMemPoolSetAttribute", uintptr(p), poolReleaseThreshold, uintptr(unsafe.Pointer(&bytes)))
}

// CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
func (l library) poolAlloc(p pool, bytes int64, on stream) (address, error) {
	var at address
	err := call(l, "cuMemAllocFromPoolAsync", uintptr(unsafe.Pointer(&at)), uintptr(bytes), uintptr(p), uintptr(on))
	return at, err
}

// CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
func (l library) poolFree(at address, on stream) error {
	return call(l, "cuMemFreeAsync", uintptr(at), uintptr(on))
}

// CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
func (l library) poolTrim(p pool) error { return call(l, "cuMemPoolTrimTo", uintptr(p), 0) }

// CUresult cuMemPoolDestroy(CUmemoryPool pool)
func (l library) poolDestroy(p pool) error { return call(l, "cuMemPoolDestroy", uintptr(p)) }

// CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
func (l library) hostAlloc(bytes int64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := call(l, "cuMemAllocHost_v2", uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	return p, err
}

// CUresult cuMemFreeHost(void *p)
func (l library) hostFree(p unsafe.Pointer) error { return call(l, "cuMemFreeHost", uintptr(p)) }

// CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
func (l library) copyToDevice(dst address, src unsafe.Pointer, bytes int64, on stream) error {
	return call(l, "cuMemcpyHtoDAsync_v2", uintptr(dst), uintptr(src), uintptr(bytes), uintptr(on))
}

// CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
func (l library) copyToHost(dst unsafe.Pointer, src address, bytes int64, on stream) error {
	return call(l, "cuMemcpyDtoHAsync_v2", uintptr(dst), uintptr(src), uintptr(bytes), uintptr(on))
}

// CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
func (l library) copyOnDevice(dst, src address, bytes int64, on stream) error {
	return call(l, "cuMemcpyDtoDAsync_v2", uintptr(dst), uintptr(src), uintptr(bytes), uintptr(on))
}

// CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
func (l library) fill(dst address, value byte, bytes int64, on stream) error {
	return call(l, "cuMemsetD8Async", uintptr(dst), uintptr(value), uintptr(bytes), uintptr(on))
}

// Options of the compiler. A size is passed in place of the pointer.
const (
	jitInfoLogBuffer       int32 = 3 // CU_JIT_INFO_LOG_BUFFER
	jitInfoLogBufferBytes  int32 = 4 // CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES
	jitErrorLogBuffer      int32 = 5 // CU_JIT_ERROR_LOG_BUFFER
	jitErrorLogBufferBytes int32 = 6 // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
)

const jitInputPTX = 1 // CU_JIT_INPUT_PTX

// compilerLog is where the compiler writes to, and the options that say so. It stays in place until it is closed.
type compilerLog struct {
	info, errs [8 << 10]byte
	options    [4]int32
	values     [4]uintptr
	pin        runtime.Pinner
}

func newCompilerLog() *compilerLog {
	l := &compilerLog{options: [...]int32{jitInfoLogBuffer, jitInfoLogBufferBytes, jitErrorLogBuffer, jitErrorLogBufferBytes}}
	l.pin.Pin(l)
	l.values = [...]uintptr{uintptr(unsafe.Pointer(&l.info)), uintptr(len(l.info)), uintptr(unsafe.Pointer(&l.errs)), uintptr(len(l.errs))}
	return l
}

// close returns what the compiler has written.
func (l *compilerLog) close() string {
	l.pin.Unpin()
	var log []string
	for _, buffer := range [][]byte{l.errs[:], l.info[:]} {
		said, _, _ := strings.Cut(string(buffer), "\x00")
		if said = strings.TrimSpace(said); said != "" {
			log = append(log, said)
		}
	}
	return strings.Join(log, "\n")
}

// terminated returns a copy that ends as C wants it.
func terminated(text []byte) []byte { return append(text[:len(text):len(text)], 0) }

// CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
func (l library) compile(ptx []byte) (code []byte, log string, err error) {
	said := newCompilerLog()
	var state uintptr
	err = call(l, "cuLinkCreate_v2", uintptr(len(said.options)), uintptr(unsafe.Pointer(&said.options)), uintptr(unsafe.Pointer(&said.values)),
		uintptr(unsafe.Pointer(&state)))
	if err == nil {
		code, err = l.link(state, ptx)
		err = firstError(err, l.linkDestroy(state))
	}
	return code, said.close(), err
}

// CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
// unsigned int numOptions, CUjit_option *options, void **optionValues)
func (l library) link(state uintptr, ptx []byte) ([]byte, error) {
	text := terminated(ptx)
	name := terminated([]byte("kernel"))
	if err := call(l, "cuLinkAddData_v2", state, jitInputPTX, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)),
		uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		return nil, err
	}
	return l.linkComplete(state)
}

// CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
func (l library) linkComplete(state uintptr) ([]byte, error) {
	var at *byte
	var size uintptr
	if err := call(l, "cuLinkComplete", state, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&size))); err != nil {
		return nil, err
	}
	return bytes.Clone(unsafe.Slice(at, size)), nil // the driver's goes with the state
}

// CUresult cuLinkDestroy(CUlinkState state)
func (l library) linkDestroy(state uintptr) error { return call(l, "cuLinkDestroy", state) }

// CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues)
func (l library) moduleLoad(image []byte) (module, string, error) {
	text, said := terminated(image), newCompilerLog()
	var m module
	err := call(l, "cuModuleLoadDataEx", uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(len(said.options)), uintptr(unsafe.Pointer(&said.options)), uintptr(unsafe.Pointer(&said.values)))
	return m, said.close(), err
}

// CUresult cuModuleUnload(CUmodule hmod)
func (l library) moduleUnload(m module) error { return call(l, "cuModuleUnload", uintptr(m)) }

// CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
func (l library) moduleFunction(m module, name string) (function, error) {
	text := terminated([]byte(name))
	var f function
	err := call(l, "cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
func (l library) functionAttribute(a attribute, f function) (int, error) {
	var v int32
	err := call(l, "cuFuncGetAttribute", uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(f))
	return int(v), err
}

// CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
func (l library) setFunctionAttribute(f function, a attribute, value int) error {
	return call(l, "cuFuncSetAttribute", uintptr(f), uintptr(a), uintptr(value))
}

// CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
func (l library) occupancy(f function, block, shared int) (int, error) {
	var n int32
	err := call(l, "cuOccupancyMaxActiveBlocksPerMultiprocessor", uintptr(unsafe.Pointer(&n)), uintptr(f), uintptr(block), uintptr(shared))
	return int(n), err
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	on          stream
	attributes  *launchAttribute
	count       uint32
}

// launchAttribute is CUlaunchAttribute.
type launchAttribute struct {
	id    int32
	_     int32
	value [16]int32
}

// programmaticSerialization is CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the kernel waits for the one before it by itself.
const programmaticSerialization = 6

// CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
func (l library) launch(f function, grid, block, shared uint32, on stream, parameters []uint64, early bool) error {
	// The array keeps what it points to alive; one element more, so that there is a first.
	pointers := make([]unsafe.Pointer, len(parameters)+1)
	for i := range parameters {
		pointers[i] = unsafe.Pointer(&parameters[i])
	}
	config := launchConfig{grid: [3]uint32{grid, 1, 1}, block: [3]uint32{block, 1, 1}, shared: shared, on: on}
	if early {
		config.attributes = &launchAttribute{id: programmaticSerialization, value: [16]int32{1}}
		config.count = 1
	}
	return call(l, "cuLaunchKernelEx", uintptr(unsafe.Pointer(&config)), uintptr(f), uintptr(unsafe.Pointer(&pointers[0])), 0)
}

// streamNonBlocking is CU_STREAM_NON_BLOCKING: the stream does not wait for the context's default stream.
const streamNonBlocking = 1

// CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
func (l library) streamCreate() (stream, error) {
	var s stream
	err := call(l, "cuStreamCreate", uintptr(unsafe.Pointer(&s)), streamNonBlocking)
	return s, err
}

// CUresult cuStreamSynchronize(CUstream hStream)
func (l library) streamSynchronize(s stream) error { return call(l, "cuStreamSynchronize", uintptr(s)) }

// CUresult cuStreamDestroy_v2(CUstream hStream)
func (l library) streamDestroy(s stream) error { return call(l, "cuStreamDestroy_v2", uintptr(s)) }

// CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
func (l library) eventCreate() (event, error) {
	var e event
	err := call(l, "cuEventCreate", uintptr(unsafe.Pointer(&e)), 0)
	return e, err
}

// CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
func (l library) eventRecord(e event, on stream) error {
	return call(l, "cuEventRecord", uintptr(e), uintptr(on))
}

// CUresult cuEventSynchronize(CUevent hEvent)
func (l library) eventSynchronize(e event) error { return call(l, "cuEventSynchronize", uintptr(e)) }

// CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
func (l library) eventElapsed(start, end event) (float32, error) {
	var ms float32
	err := call(l, "cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), uintptr(start), uintptr(end))
	return ms, err
}

// CUresult cuEventDestroy_v2(CUevent hEvent)
func (l library) eventDestroy(e event) error { return call(l, "cuEventDestroy_v2", uintptr(e)) }
