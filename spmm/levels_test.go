package spmm_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/asm"
	"sddmmkit/internal/conformance"
)

// Every instruction set of this machine passes the suite, not only the best.
func TestConformanceOfLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite does so with -tags noasm and SDDMMKIT_CPU=avx2")
	}
	for level := asm.Generic; level < asm.Active(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			restore, err := asm.Use(level)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			conformance.SpMM(t, func(*testing.T) device.Device { return cpu.New(2) })
		})
	}
}
