package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sddmmkit/bench/record"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/cputime"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// ctxb is a context for tests that do not cancel.
var ctxb = context.Background()

// small is a matrix with an empty row, an empty column and rows that are not sorted.
func small[T sddmm.Float](t testing.TB) *Matrix[T] {
	t.Helper()
	s := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: 4, Cols: 5, RowPtr: []int64{0, 2, 2, 5, 6}, ColIdx: []int32{3, 0, 0, 1, 4, 1}},
		Val: []T{1, -2, 3, 0.5, 4, -1}}
	m, err := NewMatrix("small", s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// random has about a twentieth of its cells filled.
func random[T sddmm.Float](t testing.TB, rows, cols int) *Matrix[T] {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	s := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}}
	for i := range rows {
		for j := range cols {
			if rng.IntN(20) == 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, T(rng.Float64()))
			}
		}
		s.RowPtr[i+1] = int64(len(s.Val))
	}
	m, err := NewMatrix("random", s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// brief is a sampling that ends at once.
var brief = Options{Sampling: Sampling{Warmups: 1, Samples: 3, Seconds: 1e-9}, Seed: 7}

func allCases(k ...int) []Case {
	var out []Case
	for _, k := range k {
		for _, f := range []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient} {
			out = append(out, Case{Op: SDDMM, Epilogue: f, K: k})
		}
		out = append(out, Case{Op: SpMM, K: k}, Case{Op: SpMMT, K: k})
	}
	return out
}

func TestRun(t *testing.T) {
	t.Run("float32", testRun[float32])
	t.Run("float64", testRun[float64])
}

func testRun[T sddmm.Float](t *testing.T) {
	dev := cpu.New(2)
	for _, m := range []*Matrix[T]{small[T](t), random[T](t, 70, 50)} {
		for _, c := range allCases(1, 5, 64) {
			rec, err := Run(ctxb, dev, m, c, brief)
			if err != nil {
				t.Fatalf("%s, %+v: %v", m.Name, c, err)
			}
			if rec.Checked == 0 || !(rec.Share >= 0 && rec.Share <= 1) || rec.Samples < 3 || rec.Samples != len(rec.Seconds) || rec.Warmups < 2 ||
				rec.Flops != 2*m.S.NNZ()*int64(c.K) || rec.Threads != 2 || rec.Timing != "host" || rec.Props == nil || rec.Time.IsZero() || rec.Seed != 7 {
				t.Errorf("%s, %+v: %+v", m.Name, c, rec)
			}
			if err := rec.Check(); err != nil {
				t.Error(err)
			}
		}
	}
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("%+v is still open", u)
	}
}

// Shapes without anything in them are measured like others.
func TestRunEmpty(t *testing.T) {
	for _, p := range []sparse.Pattern{
		{Rows: 3, Cols: 2, RowPtr: make([]int64, 4)},
		{Rows: 0, Cols: 2, RowPtr: make([]int64, 1)},
		{Rows: 3, Cols: 0, RowPtr: make([]int64, 4)},
	} {
		m, err := NewMatrix("empty", &sparse.CSR[float32]{Pattern: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range allCases(3) {
			if rec, err := Run(ctxb, cpu.New(1), m, c, brief); err != nil || rec.Flops != 0 || rec.GFLOPS != 0 {
				t.Errorf("%d×%d, %+v: %v", p.Rows, p.Cols, c, err)
			}
		}
	}
}

// The checksum of the result does not depend on the number of threads, nor on the tile.
func TestRunSameSum(t *testing.T) {
	m := random[float32](t, 100, 4000)
	for _, c := range []Case{{Op: SDDMM, Epilogue: sddmm.Scale, K: 300}, {Op: SpMM, K: 300}} {
		var first float64
		for i, tiling := range []Tiling{{}, {By: TileNone}, {By: TileGiven, Tile: model.Tile{Tj: 512}}, {By: TileGiven, Tile: model.Tile{Tj: 1000}}} {
			c.Tiling = tiling
			rec, err := Run(ctxb, cpu.New(1+i%2), m, c, brief)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = rec.Sum
			}
			if rec.Sum != first || tiling.By == TileGiven && (rec.Tile != TileText(tiling.Tile) || rec.TileBy != TileGiven) {
				t.Errorf("%s: tile %s by %s, sum %v, want %v", c.Op, rec.Tile, rec.TileBy, rec.Sum, first)
			}
		}
	}
}

// The model predicts a time for every case with non-zeros, whatever the tile.
func TestPrediction(t *testing.T) {
	dev := cpu.New(2)
	opt := brief
	opt.Machine = model.NewMachine(dev.Props(), device.Measured{}, 2)
	m := random[float64](t, 60, 1000)
	for _, c := range allCases(1, 200) {
		for _, tiling := range []Tiling{{}, {By: TileNone}, {By: TileGiven, Tile: model.Tile{Tj: 300}}} {
			c.Tiling = tiling
			rec, err := Run(ctxb, dev, m, c, opt)
			if err != nil || rec.PredictedSeconds == nil || !(*rec.PredictedSeconds > 0) || math.IsInf(*rec.PredictedSeconds, 0) {
				t.Errorf("%+v: %v, error %v", c, rec, err)
			}
		}
	}
	empty, err := NewMatrix("empty", &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 2, Cols: 3, RowPtr: make([]int64, 3)}})
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := Run(ctxb, dev, empty, Case{Op: SpMM, K: 4}, opt); err != nil || rec.PredictedSeconds != nil {
		t.Errorf("of nothing: %+v, %v", rec, err)
	}
}

// A plan that tries tiles in its first calls is timed when it has settled, and no longer than it may take.
func TestMeasureWaits(t *testing.T) {
	p, err := newProblem(nil, small[float32](t), Case{Op: SDDMM, Epilogue: sddmm.Scale, K: 8}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for settles, want := range map[int]int{1: 1, 7: 7, 1 << 30: maxSettling} {
		c := &clock{step: 1}
		op := fake(p, func(out []float32) error { right(p, out); return c.tick() })
		op.tile = func(context.Context) (model.Tile, bool, error) {
			return model.Tile{Tj: c.calls}, c.calls >= settles, nil
		}
		rec := newRecord(p, 1)
		tile, err := measure(ctxb, c, Sampling{Warmups: 2, Samples: 3, Seconds: 1, Limit: 10}, p, op, rec)
		if err != nil || rec.Warmups != want+2 || tile.Tj < min(settles, want)-1 || rec.Tile != TileText(tile) {
			t.Errorf("settled after %d calls: tile %v, %d calls before the samples, want %d; error %v", settles, tile, rec.Warmups, want+2, err)
		}
	}
	broken := errors.New("broken")
	op := fake(p, func(out []float32) error { right(p, out); return nil })
	op.tile = func(context.Context) (model.Tile, bool, error) { return model.Tile{}, false, broken }
	if _, err := measure(ctxb, &clock{step: 1}, brief.Sampling, p, op, newRecord(p, 1)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// A search tries no tile, the model's, a plan's and a grid, checks the result, and leaves nothing open.
func TestSearch(t *testing.T) {
	m := random[float32](t, 50, 2000)
	dev := cpu.New(1)
	for _, c := range []Case{{Op: SDDMM, K: 200}, {Op: SpMM, K: 200}, {Op: SpMMT, K: 200}} {
		c.Tiling.By = TileBySearch
		rec, err := Run(ctxb, dev, m, c, brief)
		if err != nil {
			t.Fatal(err)
		}
		s := rec.Search
		if s == nil || rec.TileBy != TileBySearch || rec.Checked == 0 || rec.Check() != nil {
			t.Fatalf("%s: %+v", c.Op, rec)
		}
		tried := map[string]record.Trial{}
		for i, trial := range s.Tiles {
			tried[trial.Tile] = trial
			if !(trial.Seconds > 0 && trial.Predicted > 0) || trial.Rounds < 1 || i > 0 && trial.Seconds < s.Tiles[i-1].Seconds {
				t.Errorf("%s: %+v", c.Op, s.Tiles)
			}
		}
		if c.Op != SpMMT && len(tried) < 2 || len(tried) != len(s.Tiles) || tried["none"].Rounds != 1+len(dropOut) || rec.Tile != s.Tiles[0].Tile || rec.Min != s.Tiles[0].Seconds {
			t.Errorf("%s: tile %s in %v of %+v", c.Op, rec.Tile, rec.Min, s.Tiles)
		}
		for _, held := range []record.Held{s.Model, s.Plan} {
			if held.Trial != tried[held.Tile] || held.Rounds != 1+len(dropOut) || held.Loss < 0 || held.Tile == rec.Tile && held.Loss != 0 {
				t.Errorf("%s: held %+v, tried %+v", c.Op, held, tried)
			}
		}
		if !(s.Planning >= 0) {
			t.Errorf("%s: planning took %v calls", c.Op, s.Planning)
		}
	}
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("%+v is still open", u)
	}
}

// The fastest tile wins, also when its first turns are disturbed; hopeless ones have one turn.
func TestTournament(t *testing.T) {
	seconds := func(tile model.Tile) float64 { // best with 6144 columns, or no tile at all
		if tile.Tj == 0 {
			return 3 + float64(tile.Tk)/1024
		}
		return 1 + math.Abs(math.Log2(float64(tile.Tj)/6144)) + float64(tile.Tk)/1024
	}
	turns := map[model.Tile]int{}
	tour := &tournament{turn: func(tile model.Tile) (float64, error) {
		turns[tile]++
		s := seconds(tile)
		if tile.Tj == 6144 && turns[tile] < 3 {
			s *= 1.4
		}
		return s, nil
	}}
	if err := tour.run(1<<17, []int{256, 128}, model.Tile{Tj: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	if best := tour.best(); best.tile != (model.Tile{Tj: 6144}) || best.least() != 1 {
		t.Errorf("the best is %+v", best)
	}
	all := 1 + len(dropOut)
	for tile, want := range map[model.Tile]int{{}: all, {Tj: 1 << 16}: all, {Tj: 6144}: all - 1, {Tj: 1024}: 1, {Tj: 512}: 1, {Tj: 256}: 0, {Tj: 16384}: 2,
		{Tk: 256}: 1, {Tk: 128}: 1, {Tj: 8192, Tk: 128}: 4, {Tj: 1024, Tk: 256}: 1, {Tj: 256, Tk: 128}: 0, {Tj: 6144, Tk: 128}: 0} {
		if turns[tile] != want {
			t.Errorf("tile %v had %d turns, want %d", tile, turns[tile], want)
		}
	}
	broken := errors.New("broken")
	tour = &tournament{turn: func(tile model.Tile) (float64, error) {
		if tile.Tj == 512 {
			return 0, broken
		}
		return 1, nil
	}}
	if err := tour.run(2000, nil); !errors.Is(err, broken) || !strings.Contains(err.Error(), "0x512x0") {
		t.Errorf("error %v", err)
	}
}

func TestGrid(t *testing.T) {
	if got, want := coarse(1025), []model.Tile{{Tj: 1024}, {Tj: 512}, {Tj: 256}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := coarse(256); got != nil {
		t.Errorf("a panel as wide as the matrix: %v", got)
	}
	for _, c := range []struct {
		best     model.Tile
		gathered int
		want     []model.Tile
	}{
		{model.Tile{Tj: 1024}, 1600, []model.Tile{{Tj: 768}, {Tj: 1536}}},
		{model.Tile{Tj: 1024, Tk: 256}, 1600, []model.Tile{{Tj: 768, Tk: 256}, {Tj: 1536, Tk: 256}}},
		{model.Tile{Tj: 256}, 1000, []model.Tile{{Tj: 384}}},
		{model.Tile{}, 1000, []model.Tile{{Tj: 768}}},
		{model.Tile{Tk: 128}, 1000, []model.Tile{{Tj: 768, Tk: 128}}},
		{model.Tile{}, 600, nil},
		{model.Tile{}, 10, nil},
	} {
		if got := finer(c.best, c.gathered); !slices.Equal(got, c.want) {
			t.Errorf("%v of %d: %v, want %v", c.best, c.gathered, got, c.want)
		}
	}
}

func TestParseTiling(t *testing.T) {
	for text, want := range map[string]Tiling{
		"none": {By: TileNone}, "model": {By: TileByModel}, "exhaustive": {By: TileBySearch},
		"0x4096x128": {By: TileGiven, Tile: model.Tile{Tj: 4096, Tk: 128}}, "0x7x0": {By: TileGiven, Tile: model.Tile{Tj: 7}},
		"4096x448x128x5": {By: TileGiven, Tile: model.Tile{Ti: 4096, Tj: 448, Tk: 128, Panels: 5}},
		"0x448x64x5x2":   {By: TileGiven, Tile: model.Tile{Tj: 448, Tk: 64, Panels: 5, Dense: 2}},
	} {
		got, err := ParseTiling(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if back := TileText(got.Tile); got.By == TileGiven && back != text {
			t.Errorf("%s is written as %s", text, back)
		}
	}
	for _, text := range []string{"", "given", "1x2", "0x1x2x3x4x5", "0xax0", "0x-1x0", "0x99999999999x0"} {
		if _, err := ParseTiling(text); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestCaseErrors(t *testing.T) {
	m := small[float32](t)
	for want, c := range map[string]Case{
		"operation":     {Op: "gemm", K: 1},
		"K = 0":         {Op: SpMM},
		"K = 1048577":   {Op: SpMM, K: maxK + 1},
		"no epilogue":   {Op: SpMM, K: 1, Epilogue: sddmm.Scale},
		"epilogue(200)": {Op: SDDMM, K: 1, Epilogue: 200},
		"multiple of":   {Op: SDDMM, K: 1, Tiling: Tiling{By: TileGiven, Tile: model.Tile{Tj: 1, Tk: 5}}},
		"tiles by":      {Op: SDDMM, K: 1, Tiling: Tiling{By: "magic"}},
	} {
		if _, err := Run(ctxb, cpu.New(1), m, c, brief); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", c, err, want)
		}
	}
	for _, s := range []Sampling{{Warmups: -1}, {Samples: -1}, {Seconds: -1}, {Seconds: math.NaN()}, {Limit: -1}} {
		if _, err := Run(ctxb, cpu.New(1), m, Case{Op: SpMM, K: 1}, Options{Sampling: s}); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

func TestNewMatrixErrors(t *testing.T) {
	bad := func(s *sparse.CSR[float32], want string) {
		t.Helper()
		if _, err := NewMatrix("bad", s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	p := sparse.Pattern{Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{0, 1}}
	bad(&sparse.CSR[float32]{Pattern: p, Val: []float32{1, float32(math.NaN())}}, "value 1 is NaN")
	bad(&sparse.CSR[float32]{Pattern: p, Val: []float32{float32(math.Inf(-1)), 1}}, "value 0 is -Inf")
	bad(&sparse.CSR[float32]{Pattern: p, Val: []float32{1}}, "values")
	p.ColIdx = []int32{0, 7}
	bad(&sparse.CSR[float32]{Pattern: p, Val: []float32{1, 1}}, "7")
}

// A case that cannot fit is an error before anything is allocated.
func TestTooLarge(t *testing.T) {
	s := &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 1 << 20, Cols: 1 << 20, RowPtr: make([]int64, 1<<20+1)}}
	m, err := NewMatrix("wide", s)
	if err != nil {
		t.Fatal(err)
	}
	dev := cpu.New(1)
	if mem := dev.Props().MemoryBytes; mem == 0 || mem > 1<<44 {
		t.Skip("the memory of this machine is unknown, or enough")
	}
	for _, op := range Ops {
		if _, err := Run(ctxb, dev, m, Case{Op: op, K: maxK}, brief); err == nil || !strings.Contains(err.Error(), "smaller K") {
			t.Errorf("%s: error %v", op, err)
		}
	}
}

func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(ctxb)
	cancel()
	for _, by := range []TileBy{TileByModel, TileBySearch} {
		if _, err := Run(ctx, cpu.New(1), small[float32](t), Case{Op: SpMM, K: 4, Tiling: Tiling{By: by}}, brief); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// fake is an operation that does what it is told.
func fake(p *problem[float32], call func(out []float32) error) *operation[float32] {
	out := make([]float32, p.out)
	return &operation[float32]{
		call:   func(context.Context) error { return call(out) },
		poison: func() error { setNaN(out); return nil },
		result: func() ([]float32, error) { return out, nil },
		mark:   nan[float32](),
		close:  func() error { return nil },
	}
}

// right computes SDDMM by the formula.
func right(p *problem[float32], out []float32) {
	want, _ := sddmm.Reference(p.c.Epilogue, 1, p.m.S, p.a, p.b, 0, nil)
	for z, v := range want {
		out[z] = float32(v)
	}
}

// Every kind of wrong result is an error, and no time is reported.
func TestMeasureFindsMistakes(t *testing.T) {
	p, err := newProblem(nil, small[float32](t), Case{Op: SDDMM, Epilogue: sddmm.Scale, K: 8}, 1)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	broken := errors.New("broken")
	for name, call := range map[string]func(out []float32) error{
		"nothing":     func(out []float32) error { return nil },
		"one missing": func(out []float32) error { x := out[3]; right(p, out); out[3] = x; return nil },
		"one wrong":   func(out []float32) error { right(p, out); out[5] *= 1 + 1e-4; return nil },
		"wrong sign":  func(out []float32) error { right(p, out); out[0] = -out[0]; return nil },
		"wrong later": func(out []float32) error { right(p, out); calls++; out[1] *= float32(1 + calls/4); return nil },
		"other bits": func(out []float32) error {
			right(p, out)
			calls++
			out[1] = math.Nextafter32(out[1], float32(2000*(calls/3)-1000))
			return nil
		},
		"fails":        func(out []float32) error { return broken },
		"fails later":  func(out []float32) error { right(p, out); calls++; return map[bool]error{true: broken}[calls > 3] },
		"is all right": func(out []float32) error { right(p, out); return nil },
	} {
		calls = 0
		rec := newRecord(p, 1)
		_, err := measure(ctxb, &clock{step: 1}, Sampling{Warmups: 1, Samples: 3, Seconds: 1e-9, Limit: 1}, p, fake(p, call), rec)
		good := name == "is all right"
		if (err == nil) != good || good != (rec.Median > 0) {
			t.Errorf("%s: error %v, time %v", name, err, rec.Median)
		}
		if strings.HasPrefix(name, "fails") != errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var wrong *WrongError
	_, err = measure(ctxb, &clock{step: 1}, brief.Sampling, p, fake(p, func(out []float32) error { right(p, out); out[5] = 99; return nil }), newRecord(p, 1))
	if !errors.As(err, &wrong) || wrong.Element != 5 || wrong.Got != 99 || !strings.Contains(err.Error(), "small") {
		t.Errorf("error %v", err)
	}
}

// The check must not be so loose that a float32 result passes as float64.
func TestCheckIsTight(t *testing.T) {
	m := random[float64](t, 40, 30)
	p, err := newProblem(nil, m, Case{Op: SpMM, K: 20}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, p.out)
	for n, e := range p.at {
		got[e] = p.want[n]
	}
	if _, err := p.check(got, nan[float64]()); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = float64(float32(got[i]))
	}
	if _, err := p.check(got, nan[float64]()); err == nil {
		t.Error("a result rounded to float32 passes as float64")
	}
}

// The largest row is always checked, and large matrices are sampled.
func TestSampleRows(t *testing.T) {
	counts := make([]int64, 1_000_000)
	for i := range counts {
		counts[i] = int64(i % 7)
	}
	counts[777_777] = 500
	rows := sampleRows(counts, 128, 1)
	if !slices.Contains(rows, 777_777) || !slices.Contains(rows, 0) || !slices.Contains(rows, 999_999) || !slices.IsSorted(rows) || len(slices.Compact(slices.Clone(rows))) != len(rows) {
		t.Errorf("%d rows, or the largest, the first or the last is not among them", len(rows))
	}
	if len(rows) < 1000 || len(rows) > 20_000 {
		t.Errorf("%d of a million rows", len(rows))
	}
	if got := sampleRows([]int64{1, 2, 3}, 1, 1); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("of three rows %v", got)
	}
	if got := sampleRows([]int64{3, 1e12, 3}, 128, 1); !slices.Equal(got, []int{1}) {
		t.Errorf("a row beyond every budget: %v", got)
	}
	if got := sampleRows(nil, 1, 1); got != nil {
		t.Errorf("of none %v", got)
	}
}

// The counts of the package documentation, by hand: 4×5, 6 non-zeros, 3 rows and 4 columns active.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		c    Case
		size int64
		want record.Counts
	}{
		{Case{Op: SDDMM, K: 10}, 4, record.Counts{Flops: 120, Bytes: 6*40 + 3*40 + 6*8 + 40, Compulsory: 4*40 + 3*40 + 6*8 + 40}},
		{Case{Op: SDDMM, K: 10, Epilogue: sddmm.Scale}, 4, record.Counts{Flops: 120, Bytes: 6*40 + 3*40 + 6*12 + 40, Compulsory: 4*40 + 3*40 + 6*12 + 40}},
		{Case{Op: SpMM, K: 10}, 8, record.Counts{Flops: 120, Bytes: 6*80 + 4*80 + 6*12 + 40, Compulsory: 4*80 + 4*80 + 6*12 + 40}},
		{Case{Op: SDDMM, K: 10, Stored: "float16"}, 4, record.Counts{Flops: 120, Bytes: 6*20 + 3*20 + 6*8 + 40, Compulsory: 4*20 + 3*20 + 6*8 + 40}},
		{Case{Op: SpMM, K: 10, Stored: "bfloat16"}, 4, record.Counts{Flops: 120, Bytes: 6*20 + 4*40 + 6*8 + 40, Compulsory: 4*20 + 4*40 + 6*8 + 40}},
		{Case{Op: SpMMT, K: 1}, 4, record.Counts{Flops: 12, Bytes: 6*4 + 5*4 + 6*8 + 48, Compulsory: 3*4 + 5*4 + 6*8 + 48}},
	} {
		if got, _ := count(small[float32](t), c.c, c.size); got != c.want {
			t.Errorf("%+v with %d bytes: %+v, want %+v", c.c, c.size, got, c.want)
		}
	}
}

func filled[T sddmm.Float](rows, cols int, o, seed uint64) dense.Matrix[T] {
	m := dense.New[T](rows, cols)
	fill(m, o, seed)
	return m
}

// The same operands from the same seed, in both types to the bit, all in [½, 3/2).
func TestFill(t *testing.T) {
	a, b := filled[float32](100, 7, operandA, 3), filled[float64](100, 7, operandA, 3)
	other, seeded := filled[float32](100, 7, operandB, 3), filled[float32](100, 7, operandA, 4)
	same, sameSeed := 0, 0
	for e, x := range a.Data {
		if float64(x) != b.Data[e] || x < 0.5 || x >= 1.5 {
			t.Fatalf("element %d is %v and %v", e, x, b.Data[e])
		}
		if x == other.Data[e] {
			same++
		}
		if x == seeded.Data[e] {
			sameSeed++
		}
	}
	if same > 5 || sameSeed > 5 {
		t.Errorf("of 700 elements %d are those of another operand, %d those of another seed", same, sameSeed)
	}
	// As documented at Export, worked out by hand for operand 1, seed 0, element 0.
	if got := filled[float64](1, 1, 1, 0).Data[0]; got != 0.5+float64(mix(1<<56)>>41)*0x1p-23 {
		t.Errorf("the first element is %v", got)
	}
}

func TestHash(t *testing.T) {
	a, b := small[float32](t), small[float64](t)
	if a.Hash != b.Hash {
		t.Error("the hash depends on the type")
	}
	s := *a.S
	s.ColIdx = slices.Clone(s.ColIdx)
	s.ColIdx[5] = 2
	if c, err := NewMatrix("other", &s); err != nil || c.Hash == a.Hash {
		t.Errorf("another pattern has the same hash, or error %v", err)
	}
}

func TestPeers(t *testing.T) {
	for _, m := range []*Matrix[float64]{small[float64](t), random[float64](t, 60, 40)} {
		for _, c := range allCases(1, 16) {
			for _, peer := range Peers(c.Op) {
				rec, err := RunPeer(ctxb, peer, 1, 0, m, c, brief)
				if err != nil {
					t.Errorf("%s, %+v: %v", peer, c, err)
				} else if rec.Implementation != peer || rec.Type != "float64" || rec.Threads != 1 || !(rec.Median > 0) {
					t.Errorf("%+v", rec)
				}
			}
		}
	}
	var skip *SkipError
	m := random[float64](t, 60, 40)
	if _, err := RunPeer(ctxb, Gonum, 1, 10_000, m, Case{Op: SpMM, K: 16}, brief); !errors.As(err, &skip) {
		t.Errorf("a product beyond the memory: error %v", err)
	}
	if _, err := RunPeer(ctxb, Bowman, 1, 0, m, Case{Op: SDDMM, K: 16}, brief); !errors.As(err, &skip) {
		t.Errorf("a product that the peer does not have: error %v", err)
	}
	empty, err := NewMatrix("empty", &sparse.CSR[float64]{Pattern: sparse.Pattern{Cols: 3, RowPtr: []int64{0}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := RunPeer(ctxb, Gonum, 1, 0, empty, Case{Op: SpMM, K: 16}, brief); !errors.As(err, &skip) {
		t.Errorf("a shape that the peer does not have: error %v", err)
	}
}

func TestSuites(t *testing.T) {
	for _, s := range Suites() {
		if got, err := SuiteByName(s.Name); err != nil || got.Name != s.Name || s.About == "" {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, c := range s.Cases() {
			if err := c.Check(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
		if len(s.Cases()) != len(s.Ops)*len(s.K) {
			t.Errorf("%s: %d cases", s.Name, len(s.Cases()))
		}
	}
	if _, err := SuiteByName("none"); err == nil || !strings.Contains(err.Error(), "cpu, sweep, model") {
		t.Errorf("error %v", err)
	}
}

// Losses come from rounds of their own: a lucky turn of the best one does not count, and nothing is faster than it.
func TestBehind(t *testing.T) {
	turns := map[model.Tile]int{}
	seconds := map[int]float64{0: 2, 100: 1, 200: 1.5, 300: 0.9}
	tour := &tournament{turn: func(tile model.Tile) (float64, error) {
		turns[tile]++
		s := seconds[tile.Tj]
		if turns[tile]%3 == 0 { // disturbed
			s *= 5
		}
		return s * 1e-3, nil
	}}
	at := func(tj int) model.Tile { return model.Tile{Tj: tj} }
	losses, err := tour.behind(at(100), at(0), at(100), at(200), at(300))
	if err != nil || len(losses) != 4 || math.Abs(losses[0]-1) > 1e-12 || losses[1] != 0 || math.Abs(losses[2]-0.5) > 1e-12 || losses[3] != 0 {
		t.Errorf("losses %v (%v), want 1, 0, 0.5 and 0", losses, err)
	}
	if n := turns[at(100)]; n < replays || turns[at(200)] != n || turns[at(300)] != n {
		t.Errorf("turns %v, want as many of each, at least %d", turns, replays)
	}
	for _, s := range []int{0, 100, 200, 300} {
		seconds[s] *= 1e6
	}
	clear(turns)
	if _, err := tour.behind(at(100), at(0)); err != nil || turns[at(0)] != leastReplays {
		t.Errorf("long calls had %d turns (%v), want %d", turns[at(0)], err, leastReplays)
	}
	broken := errors.New("broken")
	tour.turn = func(model.Tile) (float64, error) { return 0, broken }
	if _, err := tour.behind(at(100), at(0)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// A turn is the mean of enough short calls behind one that does not count, or one long call.
func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name  string
		clock clock
		want  float64
		calls int
	}{
		{"short calls", clock{steps: []float64{turnSeconds}, step: turnSeconds / 4}, turnSeconds / 4, 5},
		{"a long call", clock{step: 2 * longCall}, 2 * longCall, 1},
	} {
		// No threads: there are no processors that others could have had.
		if got, err := turn(ctxb, &c.clock, 0, c.clock.tick); err != nil || got != c.want || c.clock.calls != c.calls {
			t.Errorf("%s: %v after %d calls, want %v after %d; error %v", c.name, got, c.clock.calls, c.want, c.calls, err)
		}
		// A clock that has nothing to do with the processors: they seem to be with others all the time.
		if _, err := turn(ctxb, &c.clock, 1<<20, c.clock.tick); err != nil || cputime.Process() > 0 && c.clock.calls <= 2*c.calls {
			t.Errorf("%s: %d calls, want several takes; error %v", c.name, c.clock.calls, err)
		}
	}
	broken := errors.New("broken")
	if _, err := turn(ctxb, &clock{step: 1}, 0, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := turn(ctxb, &clock{}, 0, func() error { return nil }); err == nil {
		t.Error("a clock that stands still is no error")
	}
}
