package kernels

import (
	"testing"

	"sddmmkit/internal/dialect"
)

func TestRun(t *testing.T) {
	const groups = multiprocessors * 7 * Threads / 8
	for _, c := range []struct {
		nnz  int64
		want int
	}{
		{0, StartEvery},
		{1, StartEvery},
		{groups * StartEvery, StartEvery},
		{groups*StartEvery + 1, 2 * StartEvery},
		{groups * maxRun, maxRun},
		{groups*maxRun + 1, maxRun/2 + StartEvery}, // twice the groups
		{groups * maxRun * 2, maxRun},
		{1 << 40, maxRun},
	} {
		g := Gather{Type: "float", Vector: 4, Lanes: 8, Chunks: 1, Scheme: InOrder}
		if got := g.Run(c.nnz); got != c.want {
			t.Errorf("%d non-zeros: runs of %d, want %d", c.nnz, got, c.want)
		}
	}
}

// Every choice is among the variants, and its slices hold the row.
func TestNewGather(t *testing.T) {
	names := map[string]bool{}
	for _, v := range Variants() {
		names[v.Name] = true
	}
	for _, e := range dialect.Types {
		for k := 1; k < 300; k++ {
			for _, s := range []Shape{
				{}, {NNZ: 127}, {NNZ: 128}, {NNZ: 1000}, {NNZ: 1 << 30}, {NNZ: 1 << 30, Lines: true}, {NNZ: 1 << 30, Lines: true, Threads: 256},
			} {
				if s.Threads == 0 {
					s.Threads = 1024
				}
				for _, aligned := range []bool{false, true} {
					s.Rows, s.K, s.Aligned = 1, k, aligned
					g := NewGather(e, s)
					if p := g.Pieces(); !names[g.Name()] || !names[p.Variant().Name] {
						t.Fatalf("%+v: %s and %s are not both among the variants", s, g.Name(), p.Variant().Name)
					}
					if slice := g.Lanes * g.Chunks * g.Vector; k%g.Vector != 0 || g.Slices(k) != int64((k+slice-1)/slice) {
						t.Fatalf("%+v: %s with %d slices", s, g.Name(), g.Slices(k))
					}
					if g.Threads()%g.Lanes != 0 || g.Threads() > s.Threads || g.Run(s.NNZ)%StartEvery != 0 {
						t.Fatalf("%+v: %s with blocks of %d threads and runs of %d", s, g.Name(), g.Threads(), g.Run(s.NNZ))
					}
				}
			}
		}
	}
}

// Which variant a shape gets, of float.
func TestScheme(t *testing.T) {
	for _, c := range []struct {
		what  string
		shape Shape
		want  string
	}{
		{"K = 1", Shape{Rows: 10, NNZ: 100, K: 1, Aligned: true}, "spmm_narrow_float_v1_l1_c1"},
		{"K = 4", Shape{Rows: 10, NNZ: 100, K: 4, Aligned: true}, "spmm_gather_float_v4_l1_c1"},
		{"short rows", Shape{Rows: 900_000, NNZ: 5_000_000, K: 128, Lines: true}, "spmm_gather_float_v4_l16_c1"},
		{"long rows, shorter than a run", Shape{Rows: 480_000, NNZ: 98_500_000, K: 128, Lines: true}, "spmm_gather_float_v4_l8_c1"},
		{"its transpose", Shape{Rows: 17_770, NNZ: 98_500_000, K: 128, Lines: true}, "spmm_bycolumn_float_v4_l8_c1"},
		{"its transpose, rows of B across cache lines", Shape{Rows: 17_770, NNZ: 98_500_000, K: 100}, "spmm_bycolumn_float_v4_l32_c1"},
		{"its transpose, few columns", Shape{Rows: 17_770, NNZ: 98_500_000, K: 16}, "spmm_gather_float_v4_l4_c1"},
		{"small and rather dense", Shape{Rows: 2000, NNZ: 750_000, K: 512, Lines: true}, "spmm_bycolumn_float_v4_l32_c1"},
		{"the same with few columns", Shape{Rows: 2000, NNZ: 750_000, K: 32, Lines: true}, "spmm_gather_float_v4_l8_c1"},
		{"its transpose", Shape{Rows: 12_000, NNZ: 750_000, K: 512, Lines: true}, "spmm_gather_float_v4_l16_c1"},
	} {
		c.shape.Aligned, c.shape.Threads = true, 1024
		if got := NewGather("float", c.shape).Name(); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// Every place is taken once.
func TestPlaces(t *testing.T) {
	for _, g := range []Gather{{"float", 4, 8, 1, ByColumn}, {"float", 4, 32, 1, ByColumn}} {
		for _, nnz := range []int64{1000, 1 << 30} {
			for _, places := range []int64{1, 112, 113, 5000, 100_000} {
				grid := min(dialect.Blocks(places, g.Groups()), 132)
				apart, within, step := g.Places(nnz, places, grid)
				taken := make([]int, places)
				for block := range grid {
					for group := range g.Groups() {
						for at := block*apart + group; at < min(places, block*apart+within); at += step {
							taken[at]++
						}
					}
				}
				for at, n := range taken {
					if n != 1 {
						t.Fatalf("%+v, %d non-zeros: place %d of %d is taken %d times", g, nnz, at, places, n)
					}
				}
			}
		}
	}
}
