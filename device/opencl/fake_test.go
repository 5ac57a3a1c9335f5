package opencl

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"sddmmkit/internal/dl"
)

// fake is an OpenCL in Go, for tests on every machine: memory is bytes, and launches are noted and not run. It
// insists on the rules that drivers insist on.
type fake struct {
	missing   string // a function that the library lacks
	platforms []fakePlatform

	mu       sync.Mutex
	failAt   int    // the call, from 1, that fails with failCode
	failName string // or all calls of this function
	failCode status
	failed   string // the call that did
	calls    int
	next     uintptr
	live     map[uintptr]any // what has been created and not released
	clock    uint64
	launches []string
}

type fakePlatform struct {
	name    string
	devices []fakeDevice
}

type fakeDevice struct {
	name, version, extensions string
	kind                      uint64
	off                       bool // not available
	noCompiler                bool
	memory                    uint64
}

var fakeGPU = fakeDevice{name: "fake GPU", version: "OpenCL 1.2 fake", kind: typeGPU, memory: 1 << 30,
	extensions: "cl_khr_fp64 cl_nv_device_attribute_query"}

type (
	fakeObject  struct{ kind string } // a context, a queue
	fakeEvent   struct{ time uint64 }
	fakeProgram struct{ source string }
	fakeKernel  struct{ args []string }
)

// fakeParams are the parameters of every kernel of the fake: a buffer, two numbers and shared memory.
var fakeParams = []struct {
	space uint32
	name  string
	size  uintptr
}{{0x119b, "float*", 8}, {0x119e, "long", 8}, {0x119e, "int", 4}, {0x119e, "unknown_t", 8}, {0x119c, "ulong2*", 0}}

func newFake(platforms ...fakePlatform) *fake {
	return &fake{platforms: platforms, live: map[uintptr]any{}, next: 0x1000}
}

func fakeWithGPU() *fake { return newFake(fakePlatform{"Fake", []fakeDevice{fakeGPU}}) }

var fakeNames []string // addresses are indices, plus 1

// Sym implements dl.Library.
func (f *fake) Sym(name string) (uintptr, error) {
	if name == f.missing {
		return 0, fmt.Errorf("function %s %w", name, dl.ErrNotFound)
	}
	k := slices.Index(fakeNames, name)
	if k < 0 {
		k = len(fakeNames)
		fakeNames = append(fakeNames, name)
	}
	return uintptr(k + 1), nil
}

// Close implements dl.Library.
func (f *fake) Close() error { return nil }

func (f *fake) load() (*api, error) {
	a, err := load(func(...string) (dl.Library, error) { return f, nil })
	if err == nil {
		a.invoke = f.invoke
	}
	return a, err
}

func (f *fake) open(t *testing.T) *Device {
	t.Helper()
	a, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// at returns what an argument points to.
func at[T any](argument uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&argument))) }

func bytesAt(argument, n uintptr) []byte { return unsafe.Slice(at[byte](argument), n) }

func (f *fake) invoke(address uintptr, a ...uintptr) uintptr {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fakeNames[address-1]
	f.calls++
	f.clock += 1000
	code := success
	if f.calls == f.failAt || name == f.failName {
		f.failed, code = name, f.failCode
	}
	if strings.HasPrefix(name, "clCreate") {
		handle := uintptr(0)
		if code == success {
			handle, code = f.create(name, a)
		}
		*at[status](a[len(a)-1]) = code
		return handle
	}
	if code == success {
		code = f.do(name, a)
	}
	return uintptr(uint32(code))
}

func (f *fake) add(object any) uintptr {
	f.next += 16
	f.live[f.next] = object
	return f.next
}

func (f *fake) create(name string, a []uintptr) (uintptr, status) {
	switch name {
	case "clCreateContext", "clCreateCommandQueue":
		return f.add(fakeObject{name}), success
	case "clCreateBuffer":
		if a[2] == 0 {
			return 0, invalidBufferSize
		}
		return f.add(make([]byte, a[2])), success
	case "clCreateProgramWithSource":
		var text []byte
		for p := *at[uintptr](a[2]); *at[byte](p) != 0; p++ {
			text = append(text, *at[byte](p))
		}
		return f.add(fakeProgram{string(text)}), success
	case "clCreateKernel":
		return f.add(&fakeKernel{make([]string, len(fakeParams))}), success
	}
	panic(name)
}

const invalidValue status = -30

func (f *fake) do(name string, a []uintptr) status {
	switch name {
	case "clReleaseContext", "clReleaseCommandQueue", "clReleaseMemObject", "clReleaseEvent", "clReleaseProgram", "clReleaseKernel":
		if f.live[a[0]] == nil {
			panic(name + " of what is not there")
		}
		delete(f.live, a[0])
		return success
	case "clFinish":
		return success
	case "clGetPlatformIDs":
		return list(a[0], a[1], a[2], len(f.platforms), func(i int) uintptr { return uintptr(i + 1) })
	case "clGetPlatformInfo":
		return answer(f.platforms[a[0]-1].name, a[2:])
	case "clGetDeviceIDs":
		if n := len(f.platforms[a[0]-1].devices); n > 0 {
			return list(a[2], a[3], a[4], n, func(i int) uintptr { return a[0]<<8 + uintptr(i) })
		}
		return deviceNotFound
	case "clGetDeviceInfo":
		return answer(f.platforms[a[0]>>8-1].devices[a[0]&0xff].info(a[1]), a[2:])
	case "clEnqueueWriteBuffer", "clEnqueueReadBuffer":
		mem := f.live[a[1]].([]byte)
		if a[4] == 0 || a[3]+a[4] > uintptr(len(mem)) || a[2] != 1 {
			return invalidValue
		}
		if span := mem[a[3] : a[3]+a[4]]; name == "clEnqueueReadBuffer" {
			copy(bytesAt(a[5], a[4]), span)
		} else {
			copy(span, bytesAt(a[5], a[4]))
		}
		return success
	case "clEnqueueCopyBuffer":
		src, dst := f.live[a[1]].([]byte), f.live[a[2]].([]byte)
		if a[5] == 0 || a[3]+a[5] > uintptr(len(src)) || a[4]+a[5] > uintptr(len(dst)) {
			return invalidValue
		}
		if a[1] == a[2] && a[3] < a[4]+a[5] && a[4] < a[3]+a[5] {
			return -8 // CL_MEM_COPY_OVERLAP
		}
		copy(dst[a[4]:a[4]+a[5]], src[a[3]:])
		return success
	case "clEnqueueFillBuffer":
		mem, pattern := f.live[a[1]].([]byte), bytesAt(a[2], a[3])
		if a[5] == 0 || a[4]+a[5] > uintptr(len(mem)) || a[4]%a[3] != 0 || a[5]%a[3] != 0 {
			return invalidValue
		}
		for i := range a[5] {
			mem[a[4]+i] = pattern[i%a[3]]
		}
		return success
	case "clEnqueueMarkerWithWaitList":
		*at[uintptr](a[3]) = f.add(fakeEvent{f.clock})
		return success
	case "clWaitForEvents":
		_ = f.live[*at[uintptr](a[1])].(fakeEvent)
		return success
	case "clGetEventProfilingInfo":
		return answer(f.live[a[0]].(fakeEvent).time, a[2:])
	case "clBuildProgram":
		if strings.Contains(f.live[a[0]].(fakeProgram).source, "mistake") {
			return -11 // CL_BUILD_PROGRAM_FAILURE
		}
		return success
	case "clGetProgramBuildInfo":
		return answer("line 7: mistake", a[3:])
	case "clGetKernelInfo":
		return answer(uint32(len(fakeParams)), a[2:])
	case "clGetKernelArgInfo":
		if p := fakeParams[a[1]]; a[2] == 0x1196 {
			return answer(p.space, a[3:])
		} else {
			return answer(p.name, a[3:])
		}
	case "clGetKernelWorkGroupInfo":
		return answer(uint64(map[uintptr]int{0x11b0: 256, 0x11b2: 1024, 0x11b4: 8}[a[2]]), a[3:])
	case "clSetKernelArg":
		k, p := f.live[a[0]].(*fakeKernel), fakeParams[a[1]]
		switch {
		case p.space == 0x119c && a[3] == 0 && a[2] > 0:
			k.args[a[1]] = fmt.Sprintf("%d bytes", a[2])
		case a[2] != p.size:
			return -51 // CL_INVALID_ARG_SIZE
		case p.space == 0x119b:
			k.args[a[1]] = "no buffer"
			if mem := *at[uintptr](a[3]); mem != 0 {
				k.args[a[1]] = fmt.Sprintf("buffer of %d", len(f.live[mem].([]byte)))
			}
		default:
			k.args[a[1]] = fmt.Sprintf("%x", bytesAt(a[3], a[2]))
		}
		return success
	case "clEnqueueNDRangeKernel":
		f.launches = append(f.launches, fmt.Sprintf("%d of %d: %s", *at[uintptr](a[4]), *at[uintptr](a[5]), strings.Join(f.live[a[1]].(*fakeKernel).args, ", ")))
		return success
	}
	panic(name)
}

func (d *fakeDevice) info(param uintptr) any {
	flag := func(on bool) uint32 {
		if on {
			return 1
		}
		return 0
	}
	switch param {
	case deviceType:
		return d.kind
	case deviceName:
		return d.name
	case deviceVersion:
		return d.version
	case deviceExtensions:
		return d.extensions
	case deviceAvailable:
		return flag(!d.off)
	case deviceCompilerAvailable:
		return flag(!d.noCompiler)
	case deviceGlobalMemSize:
		return d.memory
	case deviceMaxMemAllocSize:
		return d.memory / 4
	case deviceLocalMemSize:
		return uint64(32 << 10)
	case deviceMaxWorkGroupSize:
		return uint64(256)
	case deviceGlobalMemCacheSize:
		return uint64(1 << 20)
	case deviceSingleFPConfig:
		return uint64(fpCorrectlyRounded)
	case deviceCCMajorNV:
		return uint32(9)
	case deviceCCMinorNV:
		return uint32(0)
	}
	return uint32(32)
}

// list answers a query for handles.
func list(room, to, count uintptr, n int, handle func(i int) uintptr) status {
	for i := range min(n, int(room)) {
		*at[uintptr](to + uintptr(i)*8) = handle(i)
	}
	if count != 0 {
		*at[uint32](count) = uint32(n)
	}
	return success
}

// answer answers a query for a value; a holds param_value_size, param_value and param_value_size_ret.
func answer(value any, a []uintptr) status {
	var raw []byte
	switch v := value.(type) {
	case string:
		raw = append([]byte(v), 0)
	case uint32:
		raw = bytesOf(v)
	case uint64:
		raw = bytesOf(v)
	}
	if a[2] != 0 {
		*at[uintptr](a[2]) = uintptr(len(raw))
	}
	if a[1] != 0 {
		if a[0] < uintptr(len(raw)) {
			return invalidValue
		}
		copy(bytesAt(a[1], a[0]), raw)
	}
	return success
}

func bytesOf[T any](v T) []byte {
	return slices.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
}
