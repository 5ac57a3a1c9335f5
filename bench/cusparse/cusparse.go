package cusparse

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"sddmmkit/bench"
	"sddmmkit/device"
	"sddmmkit/device/cuda"
	"sddmmkit/internal/dl"
	"sddmmkit/sddmm"
)

// Name is the implementation in records.
const Name = "cusparse"

// gpu is what cuSPARSE needs of a device.
type gpu interface {
	device.Device
	Use(f func(stream uintptr) error) error
}

// Library is cuSPARSE on one device.
type Library struct {
	api     api
	dev     gpu
	address func(device.Memory) (uintptr, bool)
	handle  handle // 0 when closed
	version int
}

// loaded is the library of this machine.
var loaded = sync.OnceValues(func() (api, error) { return openLibrary(dl.Open) })

// Open opens cuSPARSE for a device. The caller closes it, before the device. The error wraps device.ErrUnavailable
// where the library is missing or the device is none of CUDA's, and says what to do.
func Open(dev device.Device) (*Library, error) {
	d, ok := dev.(*cuda.Device)
	if !ok {
		return nil, &device.Error{Device: dev.Name(), Call: "cusparse.Open", Err: device.ErrUnavailable, Detail: "cuSPARSE runs on CUDA devices; take --device cuda:0"}
	}
	lib, err := loaded()
	if err != nil {
		return nil, err
	}
	return open(lib, d, cuda.Address)
}

func open(lib api, dev gpu, address func(device.Memory) (uintptr, bool)) (*Library, error) {
	l := &Library{api: lib, dev: dev, address: address}
	err := l.use(func(stream uintptr) (err error) {
		if l.handle, err = lib.create(); err != nil {
			return err
		}
		l.version, err = lib.version(l.handle)
		if err == nil {
			err = lib.setStream(l.handle, stream)
		}
		if err != nil {
			err = errors.Join(err, lib.destroy(l.handle))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Version returns the library's version, "12.6.3".
func (l *Library) Version() string {
	return fmt.Sprintf("%d.%d.%d", l.version/1000, l.version%1000/100, l.version%100)
}

// Close gives back what the library holds. Closing again does nothing.
func (l *Library) Close() error {
	if l.handle == 0 {
		return nil
	}
	h := l.handle
	l.handle = 0
	return l.use(func(uintptr) error { return l.api.destroy(h) })
}

// use runs calls to the library in the device's context, and puts the device's name into their errors.
func (l *Library) use(calls func(stream uintptr) error) error {
	err := l.dev.Use(calls)
	var e *device.Error
	if !errors.As(err, &e) || e.Device != "" {
		return err
	}
	out := *e
	out.Device = l.dev.Name()
	return &out
}

// way is an algorithm by its name in records.
type way struct {
	name string
	alg  algorithm
	byB  bool // sddmm: B is the transpose of a row-major matrix, and not a column-major one
}

var (
	sddmmWays = []way{{"default, B column-major", sddmmDefault, false}, {"default, B transposed", sddmmDefault, true}}
	spmmWays  = []way{{"csr-alg1", spmmCSR1, false}, {"csr-alg2", spmmCSR2, false}, {"csr-alg3", spmmCSR3, false}}
)

// ways are the algorithms for a case.
func ways(c bench.Case) ([]way, error) {
	switch {
	case c.Stored != "":
		return nil, &bench.SkipError{Peer: Name, Reason: fmt.Sprintf("it is not measured with A and B in %s", c.Stored)}
	case c.Op == bench.SDDMM && c.Epilogue != sddmm.Dot:
		return nil, &bench.SkipError{Peer: Name, Reason: fmt.Sprintf("it has no epilogue %v; take --epilogue dot", c.Epilogue)}
	case c.Op == bench.SDDMM:
		return sddmmWays, nil
	case c.Op == bench.SpMM:
		return spmmWays, nil
	}
	return spmmWays[:2], nil
}

// Peer returns the library as a peer that computes in T. It is of use until the library is closed.
func Peer[T sddmm.Float](l *Library) bench.DevicePeer[T] { return peer[T]{l} }

type peer[T sddmm.Float] struct{ lib *Library }

func (peer[T]) Name() string { return Name }

func (p peer[T]) Version() string { return p.lib.Version() }

func (p peer[T]) Algorithms(c bench.Case) ([]string, error) {
	all, err := ways(c)
	var names []string
	for _, w := range all {
		names = append(names, w.name)
	}
	return names, err
}

// plan is a case that is ready to run.
type plan struct {
	lib     *Library
	product product
	run     func(h handle, p product, buffer uintptr) error
	buffer  device.Memory
	at      uintptr // of buffer
	close   []func() error
}

func (p peer[T]) Plan(c bench.Case, algorithm string, o *bench.Placed[T]) (_ bench.PeerPlan, err error) {
	all, err := ways(c)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.name != algorithm {
			continue
		}
		pl := &plan{lib: p.lib}
		if err := ready(pl, c, w, o); err != nil {
			return nil, errors.Join(err, pl.Close())
		}
		return pl, nil
	}
	return nil, fmt.Errorf("cusparse: there is no algorithm %q of %s", algorithm, c.Op)
}

// ready fills a plan.
func ready[T sddmm.Float](pl *plan, c bench.Case, w way, o *bench.Placed[T]) error {
	l, pat := pl.lib, o.Pattern
	t := real32
	if unsafe.Sizeof(T(0)) == 8 {
		t = real64
	}
	pl.product = product{compute: t, alg: w.alg}
	offsets, offsetType, err := pl.offsets(pat.NNZ, pat.RowPtr, pat.Host().RowPtr)
	if err != nil {
		return err
	}
	values := o.Values
	if c.Op == bench.SDDMM {
		values = o.Out
	}
	at := addresses{lib: l}
	indices, elements, b := at.of(pat.ColIdx.Arg()), at.of(values.Arg()), at.of(o.B.Buf.Arg())
	rowOffsets := at.of(offsets)
	var a, out uintptr
	if c.Op == bench.SDDMM {
		a = at.of(o.A.Buf.Arg())
	} else {
		out = at.of(o.Out.Arg())
	}
	if at.err != nil {
		return at.err
	}
	size, prepare := l.api.spmmBuffer, l.api.spmmPrepare
	pl.run = l.api.spmm
	var bytes int64
	err = l.use(func(uintptr) error {
		sparse, err := l.api.createCSR(int64(pat.Rows), int64(pat.Cols), pat.NNZ, rowOffsets, indices, elements, offsetType, index32, fromZero, t)
		if err != nil {
			return err
		}
		pl.closes(func() error { return l.api.destroySparse(sparse) })
		dense := func(rows, cols, ld int, at uintptr, o order) matrix {
			if err != nil {
				return 0
			}
			var m matrix
			if m, err = l.api.createDense(int64(rows), int64(cols), int64(ld), at, t, o); err == nil {
				pl.closes(func() error { return l.api.destroyDense(m) })
			}
			return m
		}
		q := &pl.product
		if c.Op == bench.SDDMM {
			size, prepare, pl.run = l.api.sddmmBuffer, l.api.sddmmPrepare, l.api.sddmm
			q.a = dense(o.A.Rows, o.A.Cols, o.A.Stride, a, rowMajor)
			if w.byB {
				q.opB = transpose
				q.b = dense(o.B.Rows, o.B.Cols, o.B.Stride, b, rowMajor)
			} else {
				q.b = dense(o.B.Cols, o.B.Rows, o.B.Stride, b, columnMajor)
			}
			q.c = sparse
		} else {
			if c.Op == bench.SpMMT {
				q.opA = transpose
			}
			result := o.C()
			q.a = sparse
			q.b = dense(o.B.Rows, o.B.Cols, o.B.Stride, b, rowMajor)
			q.c = dense(result.Rows, result.Cols, result.Stride, out, rowMajor)
		}
		if err != nil {
			return err
		}
		bytes, err = size(l.handle, *q)
		return err
	})
	if err != nil {
		return err
	}
	if pl.buffer, err = l.dev.Alloc(max(bytes, 16)); err != nil { // some memory, for a null pointer may mean an error
		return fmt.Errorf("cuSPARSE's buffer: %w", err)
	}
	if pl.at, err = l.addressOf(pl.buffer); err != nil {
		return err
	}
	return l.use(func(uintptr) error { return prepare(l.handle, pl.product, pl.at) })
}

// offsets returns the row offsets that cuSPARSE gets, and their type: a copy of 32 bits where those hold nnz, for that
// is what it is fastest with, and otherwise the pattern's own.
func (pl *plan) offsets(nnz int64, own *device.Buffer[int64], host []int64) (device.Arg, indexType, error) {
	if nnz > math.MaxInt32 {
		return own.Arg(), index64, nil
	}
	narrow := make([]int32, len(host))
	for i, q := range host {
		narrow[i] = int32(q)
	}
	buf, err := device.FromHost(pl.lib.dev, narrow)
	if err != nil {
		return device.Arg{}, 0, fmt.Errorf("row offsets for cuSPARSE: %w", err)
	}
	pl.close = append(pl.close, buf.Close)
	return buf.Arg(), index32, nil
}

// addresses finds addresses until one fails.
type addresses struct {
	lib *Library
	err error
}

// of returns the address of a buffer that starts where its memory does.
func (a *addresses) of(buffer device.Arg) uintptr {
	mem, first := buffer.Buffer()
	if a.err != nil {
		return 0
	}
	if mem == nil || first != 0 {
		a.err = fmt.Errorf("cusparse: an operand is missing, or starts at element %d of its memory; want 0", first)
		return 0
	}
	var at uintptr
	at, a.err = a.lib.addressOf(mem)
	return at
}

func (l *Library) addressOf(mem device.Memory) (uintptr, error) {
	at, ok := l.address(mem)
	if !ok || mem.Device().Name() != l.dev.Name() {
		return 0, fmt.Errorf("cusparse: memory of %s is no memory of %s, or is closed", mem.Device().Name(), l.dev.Name())
	}
	return at, nil
}

// closes adds a call to the library to what Close does.
func (pl *plan) closes(call func() error) {
	pl.close = append(pl.close, func() error { return pl.lib.use(func(uintptr) error { return call() }) })
}

func (pl *plan) Run() error {
	return pl.lib.use(func(uintptr) error { return pl.run(pl.lib.handle, pl.product, pl.at) })
}

func (pl *plan) Close() error {
	var errs []error
	for i := len(pl.close) - 1; i >= 0; i-- {
		errs = append(errs, pl.close[i]())
	}
	pl.close = nil
	if pl.buffer != nil {
		errs = append(errs, pl.buffer.Close())
	}
	return errors.Join(errs...)
}
