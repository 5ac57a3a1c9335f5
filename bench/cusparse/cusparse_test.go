package cusparse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/bench"
	"sddmmkit/bench/record"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

var cases = []bench.Case{{Op: bench.SDDMM, K: 5}, {Op: bench.SpMM, K: 5}, {Op: bench.SpMMT, K: 5}}

func random[T sddmm.Float](rows, cols int) *sparse.CSR[T] {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for i := range rows {
		for j := range cols {
			if rng.IntN(5) == 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, T(rng.IntN(9)-4))
			}
		}
		s.RowPtr[i+1] = int64(len(s.Val))
	}
	return s
}

// placed puts small integers on a device, with the result that they have.
func placed[T sddmm.Float](t *testing.T, dev device.Device, c bench.Case) (o *bench.Placed[T], want []float64) {
	t.Helper()
	s := random[T](13, 9)
	matrix := func(rows int) dense.Matrix[T] {
		m := dense.New[T](rows, c.K)
		for i := range m.Data {
			m.Data[i] = T((i*i+rows)%11 - 5)
		}
		return m
	}
	keep := func(c interface{ Close() error }, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	o = &bench.Placed[T]{}
	var err error
	o.Pattern, err = pattern.Upload(dev, &s.Pattern)
	keep(o.Pattern, err)
	o.Values, err = device.FromHost(dev, s.Val)
	keep(o.Values, err)
	a, b := matrix(s.Rows), matrix(s.Cols)
	switch c.Op {
	case bench.SDDMM:
		o.A, err = dense.Upload(dev, a)
		keep(o.A, err)
		want, _ = sddmm.Reference(sddmm.Dot, 1, s, a, b, 0, nil)
	case bench.SpMM:
		want, _ = spmm.Reference(spmm.NoTrans, 1, s, b, 0, dense.Matrix[T]{})
	default:
		b = a
		want, _ = spmm.Reference(spmm.Trans, 1, s, b, 0, dense.Matrix[T]{})
	}
	o.B, err = dense.Upload(dev, b)
	keep(o.B, err)
	o.Out, err = device.Alloc[T](dev, int64(len(want)))
	keep(o.Out, err)
	return o, want
}

// opened opens the library on a fake, whose leftovers are looked for at the end.
func opened(t *testing.T, dev device.Device) (*fake, *Library) {
	t.Helper()
	gpu := newGPU(dev)
	f := newFake(gpu)
	l, err := open(f, gpu, gpu.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		if left := f.left(); left != "" {
			t.Errorf("not given back: %s", left)
		}
	})
	return f, l
}

// Every algorithm is asked for what the case is.
func TestResults(t *testing.T) {
	t.Run("float32", testResults[float32])
	t.Run("float64", testResults[float64])
}

func testResults[T sddmm.Float](t *testing.T) {
	dev := cpu.New(1)
	f, l := opened(t, dev)
	computes[T](t, dev, l)
	if left := len(f.sparse) + len(f.dense); left > 0 {
		t.Errorf("not given back: %s", f.left())
	}
	if l.Version() != "12.5.10" {
		t.Errorf("version %s", l.Version())
	}
	p := Peer[T](l)
	if p.Name() != Name || p.Version() != l.Version() {
		t.Errorf("%s %s", p.Name(), p.Version())
	}
}

// computes runs every algorithm on small integers, whose result is exact.
func computes[T sddmm.Float](t *testing.T, dev device.Device, l *Library) {
	t.Helper()
	p := Peer[T](l)
	for _, c := range cases {
		algorithms, err := p.Algorithms(c)
		if err != nil || len(algorithms) < 2 {
			t.Fatalf("%s: %v, %v", c.Op, algorithms, err)
		}
		for _, algorithm := range algorithms {
			o, want := placed[T](t, dev, c)
			before := dev.Usage()
			plan, err := p.Plan(c, algorithm, o)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Op, algorithm, err)
			}
			for range 2 {
				if err := o.Out.Zero(); err != nil {
					t.Fatal(err)
				}
				if err := plan.Run(); err != nil {
					t.Fatalf("%s, %s: %v", c.Op, algorithm, err)
				}
				got := make([]T, o.Out.Len())
				if err := o.Out.Download(got); err != nil {
					t.Fatal(err)
				}
				for e, x := range got {
					if float64(x) != want[e] {
						t.Fatalf("%s, %s: element %d is %v, want %v", c.Op, algorithm, e, x, want[e])
					}
				}
			}
			if err := errors.Join(plan.Close(), plan.Close()); err != nil {
				t.Error(err)
			}
			if after := dev.Usage(); after != before {
				t.Errorf("%s, %s: %+v open before and %+v after", c.Op, algorithm, before, after)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	dev := cpu.New(1)
	_, l := opened(t, dev)
	p := Peer[float32](l)
	var skip *bench.SkipError
	if _, err := p.Algorithms(bench.Case{Op: bench.SDDMM, Epilogue: sddmm.Scale, K: 1}); !errors.As(err, &skip) || !strings.Contains(err.Error(), "--epilogue dot") {
		t.Errorf("an epilogue: %v", err)
	}
	o, _ := placed[float32](t, dev, cases[0])
	if _, err := p.Plan(cases[0], "magic", o); err == nil || !strings.Contains(err.Error(), "magic") {
		t.Errorf("no algorithm: %v", err)
	}
	for name, spoil := range map[string]func(o *bench.Placed[float32]){
		"a view":   func(o *bench.Placed[float32]) { o.B.Buf = o.B.Buf.View(1, o.B.Buf.Len()) },
		"a closed": func(o *bench.Placed[float32]) { o.Out.Close() },
		"no A":     func(o *bench.Placed[float32]) { o.A.Buf = nil },
	} {
		o, _ := placed[float32](t, dev, cases[0])
		spoil(o)
		if pl, err := p.Plan(cases[0], sddmmWays[0].name, o); err == nil || pl != nil {
			t.Errorf("%s buffer: no error", name)
		}
	}
	// More non-zeros than 32 bits count keep the pattern's own offsets.
	pl := &plan{lib: l}
	if arg, typ, err := pl.offsets(1<<31, o.Pattern.RowPtr, nil); err != nil || typ != index64 || arg != o.Pattern.RowPtr.Arg() || pl.close != nil {
		t.Errorf("long offsets: %v, %v, %v", arg, typ, err)
	}
}

// Whichever call fails, the error says which and what it means, and nothing stays behind.
func TestFailures(t *testing.T) {
	dev := cpu.New(1)
	for _, c := range cases {
		for n := 1; ; n++ {
			gpu := newGPU(dev)
			f := newFake(gpu)
			var failed string
			f.fail = func(call string) status {
				if len(f.calls) == n {
					failed = call
					return 10
				}
				return 0
			}
			before := dev.Usage()
			o, _ := placed[float32](t, dev, c)
			mid := dev.Usage()
			err := func() (err error) {
				l, err := open(f, gpu, gpu.address)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, l.Close()) }()
				algorithms, err := Peer[float32](l).Algorithms(c)
				if err != nil {
					return err
				}
				plan, err := Peer[float32](l).Plan(c, algorithms[0], o)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, plan.Close()) }()
				return plan.Run()
			}()
			if left := f.left(); left != "" || dev.Usage() != mid {
				t.Errorf("%s, %s failed: not given back: %s, %+v before and %+v after", c.Op, failed, left, before, dev.Usage())
			}
			if failed == "" {
				if err != nil || n < 10 {
					t.Errorf("%s: %d calls, error %v", c.Op, n-1, err)
				}
				break
			}
			var e *device.Error
			if !errors.As(err, &e) || e.Device != "cpu" || e.Call != failed || e.Name != "CUSPARSE_STATUS_NOT_SUPPORTED" || !errors.Is(err, device.ErrUnsupported) {
				t.Errorf("%s, %s failed: error %v", c.Op, failed, err)
			}
		}
	}
}

func TestStatuses(t *testing.T) {
	for s, want := range map[status]error{1: device.ErrUnavailable, 2: device.ErrOutOfMemory, 3: nil, 10: device.ErrUnsupported, 11: device.ErrOutOfMemory, 99: nil, -1: nil} {
		err := failure("f", s)
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), fmt.Sprint(int(s))) {
			t.Errorf("status %d: %v", s, err)
		}
	}
	if err := failure("f", 0); err != nil {
		t.Error(err)
	}
}

// Only CUDA's devices have cuSPARSE.
func TestOpenElsewhere(t *testing.T) {
	if _, err := Open(cpu.New(1)); !errors.Is(err, device.ErrUnavailable) || !strings.Contains(err.Error(), "--device cuda:0") {
		t.Errorf("on a CPU: %v", err)
	}
}

// The harness measures the fake beside ours on whatever launches kernels here.
func TestBeside(t *testing.T) {
	dev, err := backend.Open("opencl", backend.Options{})
	conformance.Require(t, device.OpenCL, err)
	defer dev.Close()
	_, l := opened(t, dev)
	beside[float32](t, dev, l)
	beside[float64](t, dev, l)
}

// TestGPU is the same with the real library.
func TestGPU(t *testing.T) {
	dev, err := backend.Open("cuda", backend.Options{})
	conformance.Require(t, device.CUDA, err)
	defer dev.Close()
	l, err := Open(dev)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Logf("cuSPARSE %s", l.Version())
	beside[float32](t, dev, l)
	beside[float64](t, dev, l)
}

func beside[T sddmm.Float](t *testing.T, dev device.Device, l *Library) {
	t.Helper()
	m, err := bench.NewMatrix("random", random[T](60, 80))
	if err != nil {
		t.Fatal(err)
	}
	s, err := bench.NewSession(dev, m, bench.Options{Sampling: bench.Sampling{Warmups: 1, Samples: 3, Seconds: 1e-9, Limit: 1e-6}, Gather: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.K = 12
		all, failed, err := s.RunBeside(context.Background(), c, Peer[T](l))
		if err != nil || len(failed) > 0 {
			t.Fatalf("%s: %v, %v", c.Op, err, failed)
		}
		algorithms, _ := ways(c)
		if len(all) != 1+len(algorithms) || record.PairUp([]record.Record{*all[0], *all[1]})[0].Peer == nil {
			t.Errorf("%s: %d records", c.Op, len(all))
		}
		for i, rec := range all[1:] {
			if rec.Implementation != Name || rec.Algorithm != algorithms[i].name || rec.Version != l.Version() || rec.Checked == 0 {
				t.Errorf("%+v", rec)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
