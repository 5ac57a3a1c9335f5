package sddmm_test

import (
	"slices"
	"testing"

	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm/kernels"
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
			if d := v.Lanes * v.Chunks * dialect.VectorOf(name); d != depth || v.Threads%32 != 0 || 8%v.Lanes != 0 {
				t.Errorf("%s: %+v has slices of %d, want %d", name, v, d, depth)
			}
			if !slices.ContainsFunc(kernels.Variants(), func(o *dialect.Variant) bool { return o.Name == v.Name() }) {
				t.Errorf("%s is no variant", v.Name())
			}
		}
	}
	if kernels.FinishPiece != pattern.PieceNNZ {
		t.Errorf("a block finishes %d non-zeros, and pieces have %d", kernels.FinishPiece, pattern.PieceNNZ)
	}
	if kernels.StartEvery != pattern.StartEvery {
		t.Errorf("kernels want starts every %d non-zeros, patterns have them every %d", kernels.StartEvery, pattern.StartEvery)
	}
}
