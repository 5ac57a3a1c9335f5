package cusparse

import (
	"fmt"
	"slices"
	"unsafe"

	"sddmmkit/device"
)

// fakeGPU is any device in the place of a CUDA device. Addresses are made up.
type fakeGPU struct {
	device.Device
	inside bool // in Use
	at     map[device.Memory]uintptr
}

const fakeStream = 77

func newGPU(dev device.Device) *fakeGPU {
	return &fakeGPU{Device: dev, at: map[device.Memory]uintptr{}}
}

func (g *fakeGPU) Use(f func(stream uintptr) error) error {
	g.inside = true
	defer func() { g.inside = false }()
	return f(fakeStream)
}

func (g *fakeGPU) address(m device.Memory) (uintptr, bool) {
	if m.Closed() {
		return 0, false
	}
	if g.at[m] == 0 {
		g.at[m] = uintptr(0x1000 * (len(g.at) + 1))
	}
	return g.at[m], true
}

func (g *fakeGPU) memory(at uintptr) device.Memory {
	for m, a := range g.at {
		if a == at && !m.Closed() {
			return m
		}
	}
	return nil
}

// fake is a cuSPARSE that computes on the host, slowly, with the laws of the real one: calls are made in the device's
// context, with a handle that has a stream, on descriptors that exist, and in the buffer and in the order that it wants.
type fake struct {
	gpu     *fakeGPU
	fail    func(call string) status // of a call, 0 to let it go on; may be nil
	calls   []string
	next    uintptr
	handles map[handle]uintptr // its stream, 0 for none
	sparse  map[matrix]fakeCSR
	dense   map[matrix]fakeDense
	ready   map[product]uintptr // the buffer of what is prepared
}

type fakeCSR struct {
	rows, cols, nnz          int64
	offsets, indices, values uintptr
	offsetType               indexType
	t                        dataType
}

type fakeDense struct {
	rows, cols, ld int64
	values         uintptr
	t              dataType
	o              order
}

// fakeBuffer is the size of buffers that the fake asks for.
const fakeBuffer = 100

func newFake(gpu *fakeGPU) *fake {
	return &fake{gpu: gpu, next: 1, handles: map[handle]uintptr{}, sparse: map[matrix]fakeCSR{}, dense: map[matrix]fakeDense{}, ready: map[product]uintptr{}}
}

// left says what was made and not given back.
func (f *fake) left() string {
	if len(f.handles)+len(f.sparse)+len(f.dense) == 0 {
		return ""
	}
	return fmt.Sprintf("%d handles, %d sparse and %d dense descriptors", len(f.handles), len(f.sparse), len(f.dense))
}

// begin is what every call begins with.
func (f *fake) begin(call string) error {
	f.calls = append(f.calls, call)
	if !f.gpu.inside {
		return failure(call, 7)
	}
	if f.fail != nil {
		return failure(call, f.fail(call))
	}
	return nil
}

func (f *fake) create() (handle, error) {
	if err := f.begin("cusparseCreate"); err != nil {
		return 0, err
	}
	f.next++
	f.handles[handle(f.next)] = 0
	return handle(f.next), nil
}

func (f *fake) destroy(h handle) error {
	err := f.begin("cusparseDestroy")
	if _, ok := f.handles[h]; !ok {
		return failure("cusparseDestroy", 1)
	}
	delete(f.handles, h)
	return err
}

func (f *fake) version(handle) (int, error) { return 12510, f.begin("cusparseGetVersion") }

func (f *fake) setStream(h handle, stream uintptr) error {
	f.handles[h] = stream
	return f.begin("cusparseSetStream")
}

func (f *fake) createCSR(rows, cols, nnz int64, offsets, indices, values uintptr, offsetType, columnType indexType, base indexBase, t dataType) (matrix, error) {
	const call = "cusparseCreateCsr"
	if err := f.begin(call); err != nil {
		return 0, err
	}
	if columnType != index32 || base != fromZero || offsetType != index32 && offsetType != index64 || offsets == 0 || indices == 0 || values == 0 {
		return 0, failure(call, 3)
	}
	f.next++
	f.sparse[matrix(f.next)] = fakeCSR{rows, cols, nnz, offsets, indices, values, offsetType, t}
	return matrix(f.next), nil
}

func (f *fake) destroySparse(m matrix) error {
	err := f.begin("cusparseDestroySpMat")
	if _, ok := f.sparse[m]; !ok {
		return failure("cusparseDestroySpMat", 3)
	}
	delete(f.sparse, m)
	return err
}

func (f *fake) createDense(rows, cols, ld int64, values uintptr, t dataType, o order) (matrix, error) {
	const call = "cusparseCreateDnMat"
	if err := f.begin(call); err != nil {
		return 0, err
	}
	if o == rowMajor && ld < cols || o == columnMajor && ld < rows || values == 0 {
		return 0, failure(call, 3)
	}
	f.next++
	f.dense[matrix(f.next)] = fakeDense{rows, cols, ld, values, t, o}
	return matrix(f.next), nil
}

func (f *fake) destroyDense(m matrix) error {
	err := f.begin("cusparseDestroyDnMat")
	if _, ok := f.dense[m]; !ok {
		return failure("cusparseDestroyDnMat", 3)
	}
	delete(f.dense, m)
	return err
}

func (f *fake) spmmBuffer(h handle, p product) (int64, error) {
	return fakeBuffer, f.begin("cusparseSpMM_bufferSize")
}

func (f *fake) sddmmBuffer(h handle, p product) (int64, error) {
	return fakeBuffer, f.begin("cusparseSDDMM_bufferSize")
}

func (f *fake) spmmPrepare(h handle, p product, buffer uintptr) error {
	return f.prepare("cusparseSpMM_preprocess", p, buffer)
}

func (f *fake) sddmmPrepare(h handle, p product, buffer uintptr) error {
	return f.prepare("cusparseSDDMM_preprocess", p, buffer)
}

func (f *fake) prepare(call string, p product, buffer uintptr) error {
	if err := f.begin(call); err != nil {
		return err
	}
	if m := f.gpu.memory(buffer); m == nil || m.Bytes() < fakeBuffer {
		return failure(call, 6)
	}
	f.ready[p] = buffer
	return nil
}

// on says what is wrong with a product that is about to run.
func (f *fake) on(call string, h handle, p product, buffer uintptr) error {
	if err := f.begin(call); err != nil {
		return err
	}
	if f.handles[h] != fakeStream || buffer == 0 || f.ready[p] != buffer {
		return failure(call, 6)
	}
	return nil
}

// elements reads numbers of any kind from the device.
func elements[T, E any](g *fakeGPU, at uintptr, convert func(E) T) []T {
	m := g.memory(at)
	raw := make([]byte, m.Bytes())
	if err := m.CopyTo(raw, 0); err != nil {
		panic(err)
	}
	size := int(unsafe.Sizeof(*new(E)))
	out := make([]T, len(raw)/size)
	for i := range out {
		out[i] = convert(*(*E)(unsafe.Pointer(&raw[i*size])))
	}
	return out
}

func (f *fake) numbers(at uintptr, t dataType) []float64 {
	if t == real32 {
		return elements(f.gpu, at, func(x float32) float64 { return float64(x) })
	}
	return elements(f.gpu, at, func(x float64) float64 { return x })
}

// write stores numbers of type t on the device.
func (f *fake) write(at uintptr, t dataType, x []float64) {
	var raw []byte
	for _, v := range x {
		if t == real32 {
			w := float32(v)
			raw = append(raw, (*[4]byte)(unsafe.Pointer(&w))[:]...)
		} else {
			raw = append(raw, (*[8]byte)(unsafe.Pointer(&v))[:]...)
		}
	}
	if err := f.gpu.memory(at).CopyFrom(0, raw); err != nil {
		panic(err)
	}
}

// entry is a function of row and column of op(m).
func (f *fake) entry(m matrix, op operation) func(i, j int) float64 {
	d := f.dense[m]
	x := f.numbers(d.values, d.t)
	return func(i, j int) float64 {
		if op == transpose {
			i, j = j, i
		}
		if int64(i) >= d.rows || int64(j) >= d.cols {
			panic(fmt.Sprintf("element (%d, %d) of %d×%d", i, j, d.rows, d.cols))
		}
		if d.o == rowMajor {
			return x[i*int(d.ld)+j]
		}
		return x[j*int(d.ld)+i]
	}
}

// each calls body for the non-zeros of a matrix.
func (f *fake) each(s fakeCSR, body func(i, j, z int)) {
	narrow := func(x int32) int64 { return int64(x) }
	var offsets []int64
	if s.offsetType == index32 {
		offsets = elements(f.gpu, s.offsets, narrow)
	} else {
		offsets = elements(f.gpu, s.offsets, func(x int64) int64 { return x })
	}
	indices := elements(f.gpu, s.indices, narrow)
	if int64(len(offsets)) != s.rows+1 || int64(len(indices)) != s.nnz || offsets[s.rows] != s.nnz {
		panic(fmt.Sprintf("%d offsets and %d indices of %+v", len(offsets), len(indices), s))
	}
	for i := range int(s.rows) {
		for z := offsets[i]; z < offsets[i+1]; z++ {
			body(i, int(indices[z]), int(z))
		}
	}
}

func (f *fake) spmm(h handle, p product, buffer uintptr) error {
	const call = "cusparseSpMM"
	if err := f.on(call, h, p, buffer); err != nil {
		return err
	}
	a, okA := f.sparse[p.a]
	c, okC := f.dense[p.c]
	rows := a.rows
	if p.opA == transpose {
		rows = a.cols
	}
	if !okA || !okC || c.rows != rows || !slices.Contains([]algorithm{4, 6, 12}, p.alg) || p.compute != a.t {
		return failure(call, 3)
	}
	if p.alg == 12 && p.opA == transpose {
		return failure(call, 10)
	}
	values, b := f.numbers(a.values, a.t), f.entry(p.b, p.opB)
	out := make([]float64, c.rows*c.ld)
	f.each(a, func(i, j, z int) {
		if p.opA == transpose {
			i, j = j, i
		}
		for k := range int(c.cols) {
			out[i*int(c.ld)+k] += values[z] * b(j, k)
		}
	})
	f.write(c.values, c.t, out)
	return nil
}

func (f *fake) sddmm(h handle, p product, buffer uintptr) error {
	const call = "cusparseSDDMM"
	if err := f.on(call, h, p, buffer); err != nil {
		return err
	}
	c, okC := f.sparse[p.c]
	d, okA := f.dense[p.a]
	if !okC || !okA || d.rows != c.rows || p.alg != 0 || p.compute != c.t {
		return failure(call, 3)
	}
	a, b := f.entry(p.a, p.opA), f.entry(p.b, p.opB)
	out := make([]float64, c.nnz)
	f.each(c, func(i, j, z int) {
		for k := range int(d.cols) {
			out[z] += a(i, k) * b(k, j)
		}
	})
	f.write(c.values, c.t, out)
	return nil
}
