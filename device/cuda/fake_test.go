package cuda

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"sddmmkit/device"
)

// fake is a driver whose device memory is memory of Go. It keeps the driver's laws: calls need the context that is
// current on their thread, work on a stream runs later than it is put there, errors of kernels stay.
type fake struct {
	mu sync.Mutex

	devices  int
	cuda     int   // version
	capacity int64 // bytes of memory
	restless bool  // goroutines that are not locked to their threads leave them between calls
	eager    bool  // work runs when it is put on a stream; otherwise not before someone waits for it
	lacks    map[string]bool
	fail     func(call string) result // of a call, success to let it go on; may be nil
	compiles func()                   // runs while a kernel is compiled; may be nil

	calls   []string
	handles uint64
	current map[int]context // by thread
	ctxs    map[context]bool
	memory  map[address][]byte
	pools   map[pool]bool
	used    int64
	host    map[unsafe.Pointer][]byte
	streams map[stream]*fakeStream
	events  map[event]*fakeEvent
	modules map[module]string
	funcs   map[function]*fakeFunction
	sticky  result
}

type fakeStream struct {
	ctx     context
	pending []func()
	ran     int // of all that was ever put on it
	put     int
}

type fakeEvent struct {
	on     *fakeStream
	number int // work on the stream to run before the event is reached; 0 when not recorded
}

type fakeFunction struct {
	name    string
	dynamic int
}

func newFake() *fake {
	return &fake{devices: 2, cuda: 12090, capacity: 1 << 30, lacks: map[string]bool{}, current: map[int]context{}, ctxs: map[context]bool{},
		memory: map[address][]byte{}, pools: map[pool]bool{}, host: map[unsafe.Pointer][]byte{}, streams: map[stream]*fakeStream{}, events: map[event]*fakeEvent{},
		modules: map[module]string{}, funcs: map[function]*fakeFunction{}}
}

// openFake opens the first device of a fake, with small chunks.
func openFake(t *testing.T, f *fake) *Device {
	t.Helper()
	d, err := open(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	d.staging.size, d.staging.direct = 4096, 1024
	return d
}

// left says what was made and not given back.
func (f *fake) left() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var s []string
	for what, n := range map[string]int{"contexts": len(f.ctxs), "allocations": len(f.memory), "pools": len(f.pools), "page-locked allocations": len(f.host),
		"streams": len(f.streams), "events": len(f.events), "modules": len(f.modules)} {
		if n != 0 {
			s = append(s, fmt.Sprintf("%d %s", n, what))
		}
	}
	return strings.Join(s, ", ")
}

func (f *fake) error(call string, r result) error {
	names := map[result]string{1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY", 100: "CUDA_ERROR_NO_DEVICE", 218: "CUDA_ERROR_INVALID_PTX", 700: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	return &device.Error{Call: call, Code: int(r), Name: names[r], Detail: fmt.Sprintf("fake error %d", r), Err: r.class()}
}

// enter begins a call; leave must follow.
func (f *fake) enter(call string) error {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	if f.lacks[call] {
		return &device.Error{Call: call, Err: device.ErrUnsupported, Detail: "these bindings lack it"}
	}
	if f.fail != nil {
		if r := f.fail(call); r != success {
			return f.error(call, r)
		}
	}
	return nil
}

// enterContext begins a call that needs a context.
func (f *fake) enterContext(call string) error {
	if err := f.enter(call); err != nil {
		return err
	}
	if !f.ctxs[f.current[thread()]] {
		return f.error(call, 201)
	}
	if f.sticky != success {
		return f.error(call, f.sticky)
	}
	return nil
}

func (f *fake) leave() { f.mu.Unlock() }

func (f *fake) handle() uint64 { f.handles++; return f.handles << 8 }

// put puts work on a stream.
func (f *fake) put(on stream, work func()) {
	s := f.streams[on]
	s.pending = append(s.pending, work)
	s.put++
	if f.eager {
		s.run(s.put)
	}
}

// foreign reports whether a stream is of another context than the current one.
func (f *fake) foreign(s stream) bool { return f.streams[s].ctx != f.current[thread()] }

// run runs work until n of all that was ever put on the stream has run.
func (s *fakeStream) run(n int) {
	for s.ran < n {
		s.pending[0]()
		s.pending = s.pending[1:]
		s.ran++
	}
}

// bytes returns the memory at an address, or nil where there is none.
func (f *fake) bytes(at address, n int64) []byte {
	for start, b := range f.memory {
		if at >= start && int64(at-start)+n <= int64(len(b)) {
			return b[at-start:][:n]
		}
	}
	return nil
}

func (f *fake) initialize() error { defer f.leave(); return f.enter("cuInit") }

func (f *fake) version() (int, error) { defer f.leave(); return f.cuda, f.enter("cuDriverGetVersion") }

func (f *fake) deviceCount() (int, error) {
	defer f.leave()
	if err := f.enter("cuDeviceGetCount"); err != nil {
		return 0, err
	}
	if f.devices == 0 {
		return 0, f.error("cuDeviceGetCount", noDevice)
	}
	return f.devices, nil
}

func (f *fake) deviceGet(number int) (ordinal, error) {
	defer f.leave()
	return ordinal(number), f.enter("cuDeviceGet")
}

func (f *fake) deviceName(ordinal) (string, error) {
	defer f.leave()
	return "Fake", f.enter("cuDeviceGetName")
}

func (f *fake) deviceAttribute(a attribute, _ ordinal) (int, error) {
	defer f.leave()
	return map[attribute]int{maxGrid: math.MaxInt32, maxSharedPerBlock: 48 << 10, warpSize: 32, multiprocessorCount: 132, l2CacheSize: 60 << 20,
		capabilityMajor: 9, capabilityMinor: 0, maxSharedOptIn: 227 << 10, maxBlockThreads: 1024}[a], f.enter("cuDeviceGetAttribute")
}

func (f *fake) deviceTotalMem(ordinal) (int64, error) {
	defer f.leave()
	return f.capacity, f.enter("cuDeviceTotalMem_v2")
}

func (f *fake) deviceUUID(ordinal) (id [16]byte, err error) {
	defer f.leave()
	for i := range id {
		id[i] = byte(17 * i)
	}
	return id, f.enter("cuDeviceGetUuid_v2")
}

func (f *fake) deviceCanAccessPeer(dev, peer ordinal) (bool, error) {
	defer f.leave()
	return dev != peer, f.enter("cuDeviceCanAccessPeer")
}

func (f *fake) contextRetain(ordinal) (context, error) {
	defer f.leave()
	if err := f.enter("cuDevicePrimaryCtxRetain"); err != nil {
		return 0, err
	}
	ctx := context(f.handle())
	f.ctxs[ctx] = true
	return ctx, nil
}

func (f *fake) contextRelease(_ ordinal, ctx context) error {
	defer f.leave()
	err := f.enter("cuDevicePrimaryCtxRelease_v2")
	delete(f.ctxs, ctx)
	return err
}

func (f *fake) contextSetCurrent(ctx context) error {
	defer func() {
		f.leave()
		if f.restless {
			time.Sleep(time.Microsecond)
		}
	}()
	err := f.enter("cuCtxSetCurrent")
	f.current[thread()] = ctx
	return err
}

func (f *fake) memInfo() (free, total int64, err error) {
	defer f.leave()
	err = f.enterContext("cuMemGetInfo_v2")
	return f.capacity - f.used, f.capacity, err
}

func (f *fake) memAlloc(n int64) (address, error) {
	defer f.leave()
	const call = "cuMemAlloc_v2"
	if err := f.enterContext(call); err != nil {
		return 0, err
	}
	return f.reserve(call, n)
}

// reserve makes memory.
func (f *fake) reserve(call string, n int64) (address, error) {
	if n <= 0 {
		return 0, f.error(call, 1)
	}
	if n > f.capacity-f.used {
		return 0, f.error(call, outOfMemory)
	}
	f.handles += uint64(n)>>8 + 2
	at := address(f.handles << 8)
	f.handles += uint64(n)>>8 + 2
	f.memory[at] = bytes.Repeat([]byte{0xA5}, int(n))
	f.used += n
	return at, nil
}

func (f *fake) memFree(at address) error {
	defer f.leave()
	if err := f.enterContext("cuMemFree_v2"); err != nil {
		return err
	}
	if _, ok := f.memory[at]; !ok {
		return f.error("cuMemFree_v2", 1)
	}
	f.used -= int64(len(f.memory[at]))
	delete(f.memory, at)
	return nil
}

func (f *fake) poolCreate(ordinal, int64) (pool, error) {
	defer f.leave()
	if err := f.enterContext("cuMemPoolCreate"); err != nil {
		return 0, err
	}
	p := pool(f.handle())
	f.pools[p] = true
	return p, nil
}

func (f *fake) poolAlloc(p pool, n int64, on stream) (address, error) {
	defer f.leave()
	const call = "cuMemAllocFromPoolAsync"
	if err := f.enterContext(call); err != nil {
		return 0, err
	}
	if !f.pools[p] || f.foreign(on) {
		return 0, f.error(call, 1)
	}
	return f.reserve(call, n)
}

// poolFree frees memory when the stream gets there.
func (f *fake) poolFree(at address, on stream) error {
	defer f.leave()
	const call = "cuMemFreeAsync"
	if err := f.enterContext(call); err != nil {
		return err
	}
	if _, ok := f.memory[at]; !ok || f.foreign(on) {
		return f.error(call, 1)
	}
	f.put(on, func() {
		f.used -= int64(len(f.memory[at]))
		delete(f.memory, at)
	})
	return nil
}

func (f *fake) poolTrim(p pool) error {
	defer f.leave()
	if err := f.enterContext("cuMemPoolTrimTo"); err != nil {
		return err
	}
	if !f.pools[p] {
		return f.error("cuMemPoolTrimTo", 1)
	}
	return nil
}

func (f *fake) poolDestroy(p pool) error {
	defer f.leave()
	if err := f.enterContext("cuMemPoolDestroy"); err != nil {
		return err
	}
	delete(f.pools, p)
	return nil
}

func (f *fake) hostAlloc(n int64) (unsafe.Pointer, error) {
	defer f.leave()
	if err := f.enterContext("cuMemAllocHost_v2"); err != nil {
		return nil, err
	}
	b := bytes.Repeat([]byte{0x5A}, int(n))
	f.host[unsafe.Pointer(&b[0])] = b
	return unsafe.Pointer(&b[0]), nil
}

func (f *fake) hostFree(p unsafe.Pointer) error {
	defer f.leave()
	if err := f.enterContext("cuMemFreeHost"); err != nil {
		return err
	}
	if _, ok := f.host[p]; !ok {
		return f.error("cuMemFreeHost", 1)
	}
	delete(f.host, p)
	return nil
}

// transfer puts a copy on a stream.
func (f *fake) transfer(call string, at address, n int64, on stream, work func(b []byte)) error {
	defer f.leave()
	if err := f.enterContext(call); err != nil {
		return err
	}
	b := f.bytes(at, n)
	if b == nil || n <= 0 || f.foreign(on) {
		return f.error(call, 1)
	}
	f.put(on, func() {
		if b := f.bytes(at, n); b != nil {
			work(b)
		} else {
			f.sticky = 700 // freed before its use
		}
	})
	return nil
}

func (f *fake) copyToDevice(dst address, src unsafe.Pointer, n int64, on stream) error {
	return f.transfer("cuMemcpyHtoDAsync_v2", dst, n, on, func(b []byte) { copy(b, unsafe.Slice((*byte)(src), n)) })
}

func (f *fake) copyToHost(dst unsafe.Pointer, src address, n int64, on stream) error {
	return f.transfer("cuMemcpyDtoHAsync_v2", src, n, on, func(b []byte) { copy(unsafe.Slice((*byte)(dst), n), b) })
}

// copyOnDevice copies ranges that overlap wrongly, as a GPU may.
func (f *fake) copyOnDevice(dst, src address, n int64, on stream) error {
	return f.transfer("cuMemcpyDtoDAsync_v2", dst, n, on, func(b []byte) {
		from := f.bytes(src, n)
		if from == nil {
			f.sticky = 700 // freed before its use
			return
		}
		for i := range b {
			b[i] = from[i]
		}
		for i := range slices.Backward(b) {
			b[i] = from[i]
		}
	})
}

func (f *fake) fill(dst address, value byte, n int64, on stream) error {
	return f.transfer("cuMemsetD8Async", dst, n, on, func(b []byte) {
		copy(b, bytes.Repeat([]byte{value}, len(b)))
	})
}

// compiled is what machine code begins with.
const compiled = "machine code of "

func (f *fake) compile(ptx []byte) ([]byte, string, error) {
	if f.compiles != nil {
		f.compiles()
	}
	defer f.leave()
	const call = "cuLinkAddData_v2"
	if err := f.enterContext(call); err != nil {
		return nil, "", err
	}
	log, err := f.reads(call, ptx)
	return append([]byte(compiled), ptx...), log, err
}

// reads is a compiler.
func (f *fake) reads(call string, ptx []byte) (log string, err error) {
	if bytes.Contains(ptx, []byte("nonsense")) {
		return "ptxas application ptx input, line 5; error   : Unexpected instruction 'nonsense'", f.error(call, 218)
	}
	return "", nil
}

func (f *fake) moduleLoad(image []byte) (module, string, error) {
	defer f.leave()
	const call = "cuModuleLoadDataEx"
	if err := f.enterContext(call); err != nil {
		return 0, "", err
	}
	if log, err := f.reads(call, image); err != nil {
		return 0, log, err
	}
	m := module(f.handle())
	f.modules[m] = string(image)
	return m, "", nil
}

func (f *fake) moduleUnload(m module) error {
	defer f.leave()
	if err := f.enterContext("cuModuleUnload"); err != nil {
		return err
	}
	delete(f.modules, m)
	return nil
}

func (f *fake) moduleFunction(m module, name string) (function, error) {
	defer f.leave()
	const call = "cuModuleGetFunction"
	if err := f.enterContext(call); err != nil {
		return 0, err
	}
	if !strings.Contains(f.modules[m], ".entry "+name+"(") {
		return 0, f.error(call, 500)
	}
	h := function(f.handle())
	f.funcs[h] = &fakeFunction{name: name, dynamic: 48 << 10}
	return h, nil
}

func (f *fake) functionAttribute(a attribute, h function) (int, error) {
	defer f.leave()
	err := f.enterContext("cuFuncGetAttribute")
	return map[attribute]int{functionMaxThreads: 1024, functionRegisters: 17, functionDynamicShared: f.funcs[h].dynamic}[a], err
}

func (f *fake) setFunctionAttribute(h function, a attribute, value int) error {
	defer f.leave()
	if err := f.enterContext("cuFuncSetAttribute"); err != nil {
		return err
	}
	if a != functionDynamicShared {
		return f.error("cuFuncSetAttribute", 1)
	}
	f.funcs[h].dynamic = value
	return nil
}

func (f *fake) occupancy(_ function, block, shared int) (int, error) {
	defer f.leave()
	return min(2048/block, (228<<10)/max(shared, 1)), f.enterContext("cuOccupancyMaxActiveBlocksPerMultiprocessor")
}

func (f *fake) launch(h function, grid, block, shared uint32, on stream, words []uint64, early bool) error {
	defer f.leave()
	const call = "cuLaunchKernelEx"
	if err := f.enterContext(call); err != nil {
		return err
	}
	if int(shared) > f.funcs[h].dynamic || f.foreign(on) || early != (f.funcs[h].name == "early") {
		return f.error(call, 1)
	}
	words = slices.Clone(words)
	f.put(on, func() { f.sticky = fakeKernels[f.funcs[h].name](f, int64(grid)*int64(block), words) })
	return nil
}

func (f *fake) streamCreate() (stream, error) {
	defer f.leave()
	if err := f.enterContext("cuStreamCreate"); err != nil {
		return 0, err
	}
	s := stream(f.handle())
	f.streams[s] = &fakeStream{ctx: f.current[thread()]}
	return s, nil
}

func (f *fake) streamSynchronize(s stream) error {
	defer f.leave()
	const call = "cuStreamSynchronize"
	if err := f.enterContext(call); err != nil {
		return err
	}
	if f.foreign(s) {
		return f.error(call, 1)
	}
	if f.streams[s].run(f.streams[s].put); f.sticky != success {
		return f.error(call, f.sticky)
	}
	return nil
}

func (f *fake) streamDestroy(s stream) error {
	defer f.leave()
	if err := f.enterContext("cuStreamDestroy_v2"); err != nil {
		return err
	}
	delete(f.streams, s)
	return nil
}

func (f *fake) eventCreate() (event, error) {
	defer f.leave()
	if err := f.enterContext("cuEventCreate"); err != nil {
		return 0, err
	}
	e := event(f.handle())
	f.events[e] = &fakeEvent{}
	return e, nil
}

func (f *fake) eventRecord(e event, on stream) error {
	defer f.leave()
	if err := f.enterContext("cuEventRecord"); err != nil {
		return err
	}
	f.put(on, func() {})
	*f.events[e] = fakeEvent{f.streams[on], f.streams[on].put}
	return nil
}

func (f *fake) eventSynchronize(e event) error {
	defer f.leave()
	const call = "cuEventSynchronize"
	if err := f.enterContext(call); err != nil {
		return err
	}
	if v := f.events[e]; v.on != nil {
		v.on.run(v.number)
	}
	if f.sticky != success {
		return f.error(call, f.sticky)
	}
	return nil
}

// eventElapsed tells a millisecond for each thing on the stream.
func (f *fake) eventElapsed(start, end event) (float32, error) {
	defer f.leave()
	const call = "cuEventElapsedTime"
	if err := f.enterContext(call); err != nil {
		return 0, err
	}
	a, b := f.events[start], f.events[end]
	if a.on == nil || a.on != b.on || a.on.ran < a.number || b.on.ran < b.number {
		return 0, f.error(call, 600)
	}
	return float32(b.number - a.number), nil
}

func (f *fake) eventDestroy(e event) error {
	defer f.leave()
	if err := f.enterContext("cuEventDestroy_v2"); err != nil {
		return err
	}
	delete(f.events, e)
	return nil
}
