package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/tiling"
)

// h200 is what that device says of itself.
func h200() *GPU {
	return NewGPU(device.Props{Units: 132, SharedBytes: 227 << 10, L2Bytes: 60 << 20}, 0, 1<<10)
}

// like is an SDDMM on a pattern whose column j, by falling count, has about nnz·(j+1)^-exponent/Σ non-zeros, at independent
// places: no neighbours in rows help.
func like(g *GPU, rows, cols int, nnz int64, exponent float64, k, elemBytes int) SharedTask {
	t := SharedTask{Rows: rows, Cols: cols, K: k, ElemBytes: elemBytes}
	weight, sum := make([]float64, cols), 0.0
	for j := range weight {
		weight[j] = math.Pow(float64(j+1), -exponent)
		sum += weight[j]
	}
	counts := make([]int64, cols)
	for j, w := range weight {
		counts[j] = int64(math.Min(w/sum*float64(nnz), 0.9*float64(rows)))
		t.NNZ += counts[j]
	}
	for _, bytes := range SharedSlices {
		width := max(g.SharedWidth(bytes/elemBytes, elemBytes), 1)
		var panels []tiling.PanelCount
		for panel := range slices.Chunk(counts, width) {
			var p tiling.PanelCount
			for _, n := range panel {
				p.NNZ += n
			}
			p.Active = math.Max(float64(rows)*(1-math.Exp(-float64(p.NNZ)/float64(rows))), math.Min(float64(p.NNZ), 1))
			panels = append(panels, p)
		}
		t.Counts = append(t.Counts, panels)
	}
	return t
}

// checkShared: gather, or a tile that kernels take, predicted to be faster, with a reason.
func checkShared(t *testing.T, g *GPU, task SharedTask, c Choice) {
	t.Helper()
	none := c.Alternatives[0]
	for _, p := range c.Alternatives {
		checkPrediction(t, p)
	}
	if none.Tile != (Tile{}) || strings.Contains(c.Reason, "%!") || strings.Contains(c.Reason, "NaN") || c.Reason == "" {
		t.Fatalf("first alternative %+v, reason %q", none, c.Reason)
	}
	if c.Tile == (Tile{}) {
		if c.Seconds != none.Seconds {
			t.Fatalf("gathering takes %v, and %v was chosen", none.Seconds, c.Seconds)
		}
		return
	}
	if c.Seconds > sharedMargin*none.Seconds || c.Panels < 1 || c.Tile.Ti < 1 || c.Tile.Ti > 1<<16 || c.Tile.Tj < 1 || c.Tile.Tj > 1<<16 ||
		!slices.Contains(SharedSlices, c.Tile.Tk*task.ElemBytes) || int64(c.Tile.Tj*c.Tile.Tk*task.ElemBytes) > g.Shared ||
		(c.Panels-1)*c.Tile.Tj >= task.Cols {
		t.Fatalf("%+v of %+v", c.Prediction, none)
	}
}

// Where counts are not wanted to count would take too long, or no panels win, not even those that hold everything and have next to no
// rows of A.
func TestWantsCounts(t *testing.T) {
	g := h200()
	wanted := map[bool]int{}
	for nnz := int64(1); nnz < 1<<30; nnz *= 2 {
		for _, k := range []int{1, 16, 32, 100, 128, 129, 512, 1024} {
			for _, elem := range []int{2, 4, 8} {
				task := SharedTask{Rows: 1, Cols: 1, NNZ: nnz, K: k, ElemBytes: elem}
				tooLong := task.counting() > countingCalls*g.gathering(&task)
				for range SharedSlices {
					task.Counts = append(task.Counts, []tiling.PanelCount{{NNZ: nnz, Active: 1}})
				}
				wants := g.WantsCounts(task)
				wanted[wants]++
				if wants && tooLong {
					t.Fatalf("%d non-zeros, K = %d of %d bytes: counting takes too long", nnz, k, elem)
				}
				for n, depth := range SharedDepths(elem) {
					if p, _ := g.shared(task, n, depth); !wants && !tooLong && p.Panels > 0 && p.Seconds <= sharedMargin*task.gather(usualShare)*float64(nnz) {
						t.Fatalf("%d non-zeros, K = %d of %d bytes: slices of %d gain", nnz, k, elem, depth)
					}
				}
				task.Counts = nil
				if !wants && g.Choose(task).Tile != (Tile{}) {
					t.Fatalf("%d non-zeros, K = %d of %d bytes: a tile without counts", nnz, k, elem)
				}
			}
		}
	}
	if wanted[true] == 0 || wanted[false] == 0 {
		t.Errorf("wanted or not: %v", wanted)
	}
}

// Counting is worth five calls of gathering, as ADR 13 has measured both.
func TestCountingIsWorthFiveCalls(t *testing.T) {
	g := h200()
	for _, test := range []struct {
		name        string
		task        SharedTask
		wanted, not []int // K
	}{
		{"like NIPS", SharedTask{Rows: 2000, Cols: 12_000, NNZ: 750_000, ElemBytes: 4}, []int{512}, []int{32, 128}},
		{"like NIPS, 16 bits", SharedTask{Rows: 2000, Cols: 12_000, NNZ: 750_000, ElemBytes: 2}, []int{512}, []int{32, 128}},
		{"like the web", SharedTask{Rows: 916_428, Cols: 916_428, NNZ: 4_740_000, ElemBytes: 4}, []int{128, 512}, []int{32}},
		{"like the web, 16 bits", SharedTask{Rows: 916_428, Cols: 916_428, NNZ: 4_740_000, ElemBytes: 2}, []int{512}, []int{32}},
		{"like Netflix", SharedTask{Rows: 480_189, Cols: 17_770, NNZ: 98_500_000, ElemBytes: 4}, []int{128, 512}, nil},
		{"like Netflix, 16 bits", SharedTask{Rows: 480_189, Cols: 17_770, NNZ: 98_500_000, ElemBytes: 2}, []int{512}, nil},
	} {
		for wanted, all := range map[bool][]int{true: test.wanted, false: test.not} {
			for _, k := range all {
				if test.task.K = k; g.WantsCounts(test.task) != wanted {
					t.Errorf("%s, K = %d: counts are wanted: %t", test.name, k, !wanted)
				}
			}
		}
	}
}

func TestSharedOddInputs(t *testing.T) {
	for _, g := range []*GPU{h200(), NewGPU(device.Props{}, 0, 0), NewGPU(device.Props{SharedBytes: 48 << 10, L2Bytes: 1, Units: 1}, 0, 1<<10),
		NewGPU(device.Props{SharedBytes: 1 << 40, L2Bytes: 1 << 60, Units: 1 << 20}, 1<<60, 0), NewGPU(device.Props{SharedBytes: 10}, -1, 20)} {
		for _, shape := range []struct {
			rows, cols int
			nnz        int64
		}{{0, 0, 0}, {1, 1, 1}, {5, 0, 0}, {0, 5, 0}, {1000, 3, 2000}, {1 << 30, 100, 1 << 40}, {100, 100_000, 1 << 20}} {
			for _, k := range []int{1, 4, 33, 128, 132, 1000, 1 << 20} {
				for _, elem := range []int{4, 8} {
					task := like(g, shape.rows, shape.cols, shape.nnz, 0.9, k, elem)
					checkShared(t, g, task, g.Choose(task))
				}
			}
		}
	}
}

// The choice is the scheme that was faster when it was measured, ADR 11.
func TestSharedChoices(t *testing.T) {
	g := h200()
	for _, test := range []struct {
		name       string
		rows, cols int
		nnz        int64
		exponent   float64
		shared     []int // K for which panels pay
		gather     []int
	}{
		{"like Netflix", 480_189, 17_770, 98_500_000, 0.9, []int{128, 512}, []int{32}},
		{"like NYTimes", 300_000, 102_660, 69_600_000, 0.9, []int{128, 512}, []int{32}},
		{"like a web graph", 916_428, 916_428, 4_740_000, 0.8, nil, []int{32, 128, 512}},
		{"uniform", 100_000, 100_000, 9_950_000, 0, nil, []int{32, 128, 512}},
		{"like NIPS", 2000, 12_000, 750_000, 0.9, []int{512}, []int{32, 128}},
	} {
		for _, k := range slices.Concat(test.shared, test.gather) {
			task := like(g, test.rows, test.cols, test.nnz, test.exponent, k, 4)
			c := g.Choose(task)
			checkShared(t, g, task, c)
			if got, want := c.Tile != (Tile{}), slices.Contains(test.shared, k); got != want {
				t.Errorf("%s, K = %d: shared %t, want %t: %s", test.name, k, got, want, c.Reason)
			}
		}
	}
}

// Dense panels, as measured for A and B of 16 bits, ADR 19: the first ones of skewed patterns where K is large, all where everything is
// dense, and none on devices that cannot.
func TestDenseChoices(t *testing.T) {
	props := device.Props{Units: 132, SharedBytes: 227 << 10, L2Bytes: 60 << 20, Architecture: "sm_90"}
	with := NewGPU(props, 0, 1<<10)
	props.Architecture = "sm_75"
	without := NewGPU(props, 0, 1<<10)
	for _, test := range []struct {
		name       string
		rows, cols int
		nnz        int64
		exponent   float64
		k          int
		least      int // dense panels
		most       int
	}{
		{"like Netflix", 480_189, 17_770, 98_500_000, 0.9, 512, 1, 4},
		{"like Netflix", 480_189, 17_770, 98_500_000, 0.9, 32, 0, 0},
		{"like NYTimes", 300_000, 102_660, 69_600_000, 0.9, 512, 1, 2},
		{"like NYTimes", 300_000, 102_660, 69_600_000, 0.9, 128, 0, 0},
		{"like a web graph", 916_428, 916_428, 4_740_000, 0.8, 512, 0, 0},
		{"a pruned layer", 8192, 8192, 13_000_000, 0, 512, 5, 37},
		{"a pruned layer", 8192, 8192, 13_000_000, 0, 128, 5, 37},
	} {
		task := like(with, test.rows, test.cols, test.nnz, test.exponent, test.k, 2)
		c := with.Choose(task)
		checkShared(t, with, task, c)
		if c.Tile.Dense < test.least || c.Tile.Dense > test.most || c.Tile.Dense > c.Tile.Panels || (c.Tile.Dense > 0) != strings.Contains(c.Reason, "dense") {
			t.Errorf("%s, K = %d: tile %+v, want %d to %d dense panels: %s", test.name, test.k, c.Tile, test.least, test.most, c.Reason)
		}
		if c := without.Choose(task); c.Tile.Dense != 0 {
			t.Errorf("%s, K = %d: %d dense panels without tensor cores", test.name, test.k, c.Tile.Dense)
		}
		task.ElemBytes = 4
		if c := with.Choose(task); c.Tile.Dense != 0 {
			t.Errorf("%s, K = %d: %d dense panels in float32", test.name, test.k, c.Tile.Dense)
		}
	}
}

func TestSharedSides(t *testing.T) {
	g := h200()
	for bytes, want := range map[int]int{128: 1792, 256: 896, 512: 448, 1024: 224} {
		if got := g.SharedWidth(bytes/4, 4); got != want {
			t.Errorf("slices of %d bytes: panels of %d columns, want %d", bytes, got, want)
		}
	}
	if w := (&GPU{Shared: 1000}).SharedWidth(32, 4); w != 7 {
		t.Errorf("a panel of %d columns in 1000 bytes", w)
	}
	for k, want := range map[int]int{4: 32, 32: 32, 36: 64, 64: 64, 96: 32, 128: 128, 132: 32, 256: 256, 512: 256, 1000: 256} {
		if got := SharedDepth(k, 4); got != want {
			t.Errorf("K = %d: slices of %d, want %d", k, got, want)
		}
	}
	if h := g.SharedHeight(128, 4); h < 20_000 || h > 45_000 {
		t.Errorf("blocks of %d rows", h)
	}
}
