package spmm_test

import (
	"testing"

	"sddmmkit/pattern"
	"sddmmkit/spmm/kernels"
)

// Kernels find their rows where the pattern says.
func TestStartEvery(t *testing.T) {
	if kernels.StartEvery != pattern.StartEvery {
		t.Errorf("kernels want starts every %d non-zeros, patterns have them every %d", kernels.StartEvery, pattern.StartEvery)
	}
}
