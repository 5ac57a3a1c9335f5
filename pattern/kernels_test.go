package pattern_test

import (
	"testing"

	"sddmmkit/pattern"
	"sddmmkit/pattern/kernels"
	"sddmmkit/tiling"
)

// Kernels agree with those who read what they write.
func TestKernelSizes(t *testing.T) {
	if kernels.StartEvery != pattern.StartEvery {
		t.Errorf("kernels write starts every %d non-zeros, patterns have them every %d", kernels.StartEvery, pattern.StartEvery)
	}
	if kernels.Align != tiling.SharedAlign {
		t.Errorf("kernels have cells begin at multiples of %d, tiling at those of %d", kernels.Align, tiling.SharedAlign)
	}
}
