package sddmm_test

import (
	"slices"
	"testing"

	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm/kernels"
	"sddmmkit/tiling"
)

// What the model and the pattern hand to kernels is what kernels are made for.
func TestKernelsForTheModel(t *testing.T) {
	for name, elem := range map[string]int{"float": 4, "double": 8} {
		var depths []int
		for _, bytes := range model.SharedSlices {
			depths = append(depths, bytes/elem)
		}
		if got := kernels.Depths(name); !slices.Equal(got, depths) {
			t.Errorf("%s: kernels for slices of %v, the model takes %v", name, got, depths)
		}
		for _, depth := range depths {
			v := kernels.NewTile(name, depth)
			if d := v.Lanes * v.Chunks * dialect.VectorOf(name); d != depth || v.Threads%32 != 0 || tiling.SharedAlign%v.Lanes != 0 {
				t.Errorf("%s: %+v has slices of %d, want %d", name, v, d, depth)
			}
			if !slices.ContainsFunc(kernels.Variants(), func(o *dialect.Variant) bool { return o.Name == v.Name() }) {
				t.Errorf("%s is no variant", v.Name())
			}
		}
	}
	names := map[string]bool{}
	for _, v := range kernels.Variants() {
		names[v.Name] = true
	}
	for _, name := range dialect.Types {
		for k := range 3000 {
			for i := range 4 {
				aligned, pairs := i%2 == 1, i > 1
				g := kernels.NewGather(name, k, aligned, pairs)
				if v := dialect.VectorOf(name); (g.Vector == v) != (aligned && k%v == 0) || g.Vector != v && g.Vector != 1 {
					t.Errorf("%s: %d elements a load for K = %d, aligned %t", name, g.Vector, k, aligned)
				}
				if !names[g.Name()] {
					t.Fatalf("%s is no variant", g.Name())
				}
			}
		}
	}
	if kernels.DenseRows != model.DenseRows || kernels.DenseCols != model.DenseCols || model.DenseCols != tiling.DenseWidth || kernels.DenseBytes != model.DenseBytes {
		t.Errorf("dense tiles of %d × %d with %d bytes, the model takes %d × %d with %d", kernels.DenseRows, kernels.DenseCols, kernels.DenseBytes,
			model.DenseRows, model.DenseCols, model.DenseBytes)
	}
	if kernels.FinishPiece != pattern.PieceNNZ {
		t.Errorf("a block finishes %d non-zeros, and pieces have %d", kernels.FinishPiece, pattern.PieceNNZ)
	}
	if kernels.StartEvery != pattern.StartEvery {
		t.Errorf("kernels want starts every %d non-zeros, patterns have them every %d", kernels.StartEvery, pattern.StartEvery)
	}
}

// Every call that gathers has its kernel, and runs that the kernel takes: whole batches, which cover the pattern.
func TestGatherKernels(t *testing.T) {
	there := map[string]bool{}
	for _, v := range kernels.Variants() {
		if there[v.Name] {
			t.Errorf("%s is there twice", v.Name)
		}
		there[v.Name] = true
	}
	for _, typ := range []string{"float", "double"} {
		for k := range 300 {
			for _, options := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
				v := kernels.NewGather(typ, k, options[0], options[1])
				if !there[v.Name()] || k%v.Vector != 0 || v.Slice() < k && v.Slice()*16/dialect.VectorOf(typ) != kernels.SliceBytes {
					t.Errorf("K = %d: %s", k, v.Name())
				}
				for _, nnz := range []int64{1, 100, 750_000, 10_000_000, 1 << 40} {
					for _, units := range []int{0, 1, 132} {
						if run := v.Run(nnz, units); run < 32 || run%32 != 0 || run > 1024 {
							t.Errorf("%s: runs of %d for %d non-zeros on %d multiprocessors", v.Name(), run, nnz, units)
						}
					}
				}
			}
		}
	}
}
