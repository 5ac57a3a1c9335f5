package bench

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/bench/record"
	"sddmmkit/dataset"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// onGPUs runs a test on the GPUs that there are, PoCL's among them.
func onGPUs(t *testing.T, test func(t *testing.T, dev device.Launcher)) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, func(t *testing.T, open func(t *testing.T) device.Device) {
		dev := open(t)
		test(t, dev.(device.Launcher))
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("%+v is still open", u)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
}

// stand is a peer that computes with ours, and spoils it as it is told.
type stand[T sddmm.Float] struct {
	t      *testing.T
	plans  int
	closed int
}

func (s *stand[T]) Name() string    { return "stand" }
func (s *stand[T]) Version() string { return "1.2" }

func (s *stand[T]) Algorithms(c Case) ([]string, error) {
	if c.Op == SpMMT {
		return nil, &SkipError{Peer: "stand", Reason: "it cannot"}
	}
	return []string{"right", "wrong", "silent", "fails"}, nil
}

type standPlan[T sddmm.Float] struct {
	s   *stand[T]
	run func() error
	op  *operation[T]
}

var errStand = errors.New("fell over")

func (s *stand[T]) Plan(c Case, algorithm string, o *Placed[T]) (PeerPlan, error) {
	s.plans++
	op, err := withPlan(&problem[T]{c: c}, o, Tiling{})
	if err != nil {
		return nil, err
	}
	pl := &standPlan[T]{s: s, op: op}
	pl.run = func() error { return op.call(ctxb) }
	switch algorithm {
	case "wrong":
		pl.run = func() error { return fillWith(o.Out, 1) }
	case "silent":
		pl.run = func() error { return nil }
	case "fails":
		return nil, errors.Join(errStand, pl.Close())
	}
	return pl, nil
}

func (p *standPlan[T]) Run() error { return p.run() }

func (p *standPlan[T]) Close() error {
	p.s.closed++
	return p.op.close()
}

func TestGPU(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		testGPU[float32](t, dev)
		testGPU[float64](t, dev)
	})
}

func testGPU[T sddmm.Float](t *testing.T, dev device.Launcher) {
	for _, m := range []*Matrix[T]{small[T](t), random[T](t, 70, 90)} {
		for _, cold := range []bool{false, true} {
			opt := brief
			opt.Cold, opt.Gather = cold, true
			opt.Roofline = Roofline{Read: 1e9, Copy: 2e9}
			s, err := NewSession(device.Device(dev), m, opt)
			if err != nil {
				t.Fatal(err)
			}
			s.cache = 20_000
			for _, c := range allCases(1, 36) {
				if cold && (m.Name == "small" || c.Epilogue != sddmm.Dot) {
					continue // nothing new
				}
				peer := &stand[T]{t: t}
				all, failed, err := s.RunBeside(ctxb, c, peer)
				if err != nil {
					t.Fatalf("%s, %+v: %v", m.Name, c, err)
				}
				if peer.plans != peer.closed {
					t.Errorf("%+v: %d plans, %d closed", c, peer.plans, peer.closed)
				}
				checkGPURecord(t, all[0], m.Name, cold)
				if rec := all[0]; rec.Implementation != record.Own || rec.Algorithm != "" || !strings.HasPrefix(rec.Kernel, strings.TrimSuffix(string(c.Op), "-t")+"_") {
					t.Errorf("%+v: %+v", c, rec)
				}
				if c.Op == SpMMT {
					var skip *SkipError
					if len(all) != 1 || len(failed) != 1 || !errors.As(failed[0], &skip) {
						t.Errorf("%+v: %d records, failed %v", c, len(all), failed)
					}
					continue
				}
				if len(all) != 2 || len(failed) != 3 {
					t.Fatalf("%+v: %d records, failed %v", c, len(all), failed)
				}
				checkGPURecord(t, all[1], m.Name, cold)
				if rec := all[1]; rec.Implementation != "stand" || rec.Version != "1.2" || rec.Algorithm != "right" || rec.Kernel != "" || rec.Sum != all[0].Sum || rec.OperandSets != all[0].OperandSets {
					t.Errorf("%+v: %+v", c, rec)
				}
				var wrong, silent *WrongError
				if !errors.As(failed[0], &wrong) || !errors.As(failed[1], &silent) || silent.Got != peerMark || !errors.Is(failed[2], errStand) ||
					!strings.Contains(failed[0].Error(), "stand, wrong") {
					t.Errorf("%+v: failed %v", c, failed)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func checkGPURecord(t *testing.T, rec *record.Record, matrix string, cold bool) {
	t.Helper()
	want := record.Warm
	if cold {
		want = record.Cold
	}
	if rec.Checked == 0 || rec.Samples < 3 || rec.Timing != "device events" || rec.Props == nil || rec.Cache != want || (rec.OperandSets > 1) != cold || rec.OperandSets < 1 ||
		rec.GatherSeconds == nil || !(*rec.GatherShare > 0) || rec.RooflineShare == nil || *rec.RooflineSeconds < *rec.GatherSeconds || rec.Matrix != matrix || rec.Check() != nil {
		t.Errorf("%+v", rec)
	}
}

// With A and B in 16 bits results are those of the rounded operands, and half the bytes are counted.
func TestGPUStored(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		opt := brief
		opt.Gather = true
		m := random[float32](t, 200, 150)
		for _, c := range allCases(1, 24) {
			whole, err := Run(ctxb, device.Device(dev), m, c, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, stored := range []string{"bfloat16", "float16"} {
				c.Stored = stored
				rec, err := Run(ctxb, device.Device(dev), m, c, opt)
				if err != nil {
					t.Fatalf("%+v: %v", c, err)
				}
				if rec.Type != stored || !strings.Contains(rec.Kernel, stored) || rec.Bytes >= whole.Bytes || rec.Flops != whole.Flops ||
					rec.Sum == whole.Sum || rec.Checked == 0 || rec.GatherSeconds == nil {
					t.Errorf("%+v: %+v", c, rec)
				}
			}
		}
		c := Case{Op: SDDMM, K: 24, Stored: "float16", Tiling: Tiling{By: TileGiven, Tile: model.Tile{Tj: 8, Tk: 64}}}
		if rec, err := Run(ctxb, device.Device(dev), m, c, opt); err != nil || rec.Tile != "0x8x64" || !strings.Contains(rec.Kernel, "tile") {
			t.Errorf("with panels: tile %s, kernel %s, %v", rec.Tile, rec.Kernel, err)
		}
		c = Case{Op: SpMM, K: 8, Stored: "float16"}
		if _, err := Run(ctxb, device.Device(dev), random[float64](t, 9, 9), c, opt); err == nil {
			t.Error("results in float64 passed")
		}
		if _, err := Run(ctxb, cpu.New(1), m, c, brief); err == nil {
			t.Error("the CPU passed")
		}
		c.Stored = "float8"
		if _, err := Run(ctxb, device.Device(dev), m, c, opt); err == nil || !strings.Contains(err.Error(), "bfloat16") {
			t.Errorf("%s: %v", c.Stored, err)
		}
	})
}

// Nothing to do is measured as well, and what cannot be measured is said.
func TestGPULimits(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for _, p := range []sparse.Pattern{{Rows: 3, Cols: 2, RowPtr: make([]int64, 4)}, {Cols: 2, RowPtr: make([]int64, 1)}, {Rows: 3, RowPtr: make([]int64, 4)}} {
			m, err := NewMatrix("empty", &sparse.CSR[float32]{Pattern: p})
			if err != nil {
				t.Fatal(err)
			}
			opt := brief
			opt.Gather = true
			for _, c := range allCases(4) {
				if rec, err := Run(ctxb, device.Device(dev), m, c, opt); err != nil || rec.GFLOPS != 0 || rec.GatherShare != nil {
					t.Errorf("%d×%d, %+v: %v", p.Rows, p.Cols, c, err)
				}
			}
		}
		m := small[float32](t)
		opt := brief
		opt.Cold = true
		if _, err := Run(ctxb, device.Device(dev), m, Case{Op: SpMM, K: 1}, opt); err == nil || !strings.Contains(err.Error(), "sets of operands") {
			t.Errorf("a matrix too small for a cold cache: %v", err)
		}
		ctx, cancel := context.WithCancel(ctxb)
		cancel()
		if _, err := Run(ctx, device.Device(dev), m, Case{Op: SpMM, K: 4}, brief); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
	opt := brief
	opt.Cold = true
	if _, err := NewSession(device.Device(cpu.New(1)), small[float32](t), opt); err == nil || !strings.Contains(err.Error(), "GPUs only") {
		t.Errorf("a cold cache of a CPU: %v", err)
	}
	s, err := NewSession(device.Device(cpu.New(1)), small[float32](t), brief)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.RunBeside(ctxb, Case{Op: SpMM, K: 4}, &stand[float32]{t: t}); err == nil || !strings.Contains(err.Error(), "GPUs only") {
		t.Errorf("a peer on a CPU: %v", err)
	}
}

func TestMeasureStreams(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		var r Roofline
		if err := measureStreams(ctxb, dev, 100_000, &r); err != nil || !(r.Read > 0 && r.Copy > 0) {
			t.Errorf("%+v, %v", r, err)
		}
	})
	for want, p := range map[int64]device.Props{
		64 << 20:  {},
		960 << 20: {L2Bytes: 60 << 20, MemoryBytes: 1 << 37},
		1 << 30:   {L2Bytes: 100 << 20},
		1 << 27:   {L2Bytes: 100 << 20, MemoryBytes: 1 << 30},
	} {
		if got := streamBytes(p); got != want {
			t.Errorf("%+v: %d bytes, want %d", p, got, want)
		}
	}
}

// A sum of gathered rows that is off by one row of many is found.
func TestCheckGathered(t *testing.T) {
	dev := cpu.New(1)
	groups := make([]float32, 50)
	for i := range groups {
		groups[i] = 32 * 16
	}
	b, err := device.FromHost(device.Device(dev), groups)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := checkGathered(b, 50*32*16, 32*16, 1600); err != nil {
		t.Error(err)
	}
	if err := checkGathered(b, 50*32*16-16, 32*16, 1600); err == nil {
		t.Error("a missing row passes")
	}
}

func TestFillWith(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for _, n := range []int64{0, 1, 7, fillElements, fillElements + 1, 3*fillElements - 5} {
			b, err := device.Alloc[float32](dev, n)
			if err != nil {
				t.Fatal(err)
			}
			if err := fillWith(b, 3); err != nil {
				t.Fatal(err)
			}
			x := make([]float32, n)
			if err := b.Download(x); err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if v != 3 {
					t.Fatalf("element %d of %d is %v", i, n, v)
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTitles(t *testing.T) {
	s, err := SuiteByName("gpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Matrices {
		if _, err := dataset.ParseSpec(m); err != nil {
			t.Error(err)
		}
		if Title(m) == m {
			t.Errorf("%s has no title", m)
		}
	}
	if got := Title("a.mtx"); got != "a.mtx" {
		t.Errorf("a file is titled %s", got)
	}
}

// Nothing is planned before the first call, which is timed.
func TestPlanningIsInTheFirstCall(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		m := random[float32](t, 600, 300)
		s, err := NewSession(device.Device(dev), m, brief)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p, err := newProblem(device.Device(dev), m, Case{Op: SDDMM, K: 32}, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		sets, err := s.placeSets(p)
		if err != nil {
			t.Fatal(err)
		}
		defer sets[0].Close()
		op, err := withPlan(p, sets[0], Tiling{})
		if err != nil {
			t.Fatal(err)
		}
		defer op.close()
		planned := func() bool { _, ok := s.pat.Chosen(model.SDDMM, 32, 4); return ok }
		before := planned()
		if err := op.call(ctxb); err != nil {
			t.Fatal(err)
		}
		if before || !planned() || op.kernel() == "" {
			t.Errorf("planned before the first call %t, after it %t; kernel %q", before, planned(), op.kernel())
		}
	})
}

// A search on a GPU tries gathering and panels of popular columns, of which there are some for a dense matrix; SpMM has nothing to try.
func TestSearchOnGPUs(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		m := random[float32](t, 600, 300)
		for _, c := range []Case{{Op: SDDMM, K: 32}, {Op: SDDMM, K: 32, Stored: "bfloat16"}, {Op: SpMM, K: 32}, {Op: SpMMT, K: 32}} {
			c.Tiling.By = TileBySearch
			rec, err := Run(ctxb, device.Device(dev), m, c, brief)
			if err != nil {
				t.Fatal(err)
			}
			s := rec.Search
			if s == nil || rec.TileBy != TileBySearch || rec.Checked == 0 || rec.Check() != nil || len(s.Tiles) == 0 {
				t.Fatalf("%s: %+v", c.Op, rec)
			}
			if c.Op == SDDMM && len(s.Tiles) < 2 || c.Op != SDDMM && len(s.Tiles) != 1 {
				t.Errorf("%s: tried %+v", c.Op, s.Tiles)
			}
			if s.Model.Rounds != 1+len(dropOut) || s.Plan.Rounds != 1+len(dropOut) || rec.Tile != s.Tiles[0].Tile {
				t.Errorf("%s: %+v", c.Op, s)
			}
		}
	})
}
