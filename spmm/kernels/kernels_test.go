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
		g := Gather{Type: "float", Vector: 4, Lanes: 8, Chunks: 1}
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
			for _, nnz := range []int64{0, 127, 128} {
				for _, aligned := range []bool{false, true} {
					g := NewGather(e, Shape{Rows: 1, NNZ: nnz, K: k, Aligned: aligned})
					if p := g.Pieces(); !names[g.Name()] || !names[p.Variant().Name] {
						t.Fatalf("K = %d: %s and %s are not both among the variants", k, g.Name(), p.Variant().Name)
					}
					if slice := g.Lanes * g.Chunks * g.Vector; k%g.Vector != 0 || g.Slices(k) != int64((k+slice-1)/slice) {
						t.Fatalf("K = %d: %s with %d slices", k, g.Name(), g.Slices(k))
					}
				}
			}
		}
	}
}
