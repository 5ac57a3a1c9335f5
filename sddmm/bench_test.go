package sddmm_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

// A million non-zeros; GFLOP/s and GB/s by the formulas of conformance.BenchmarkSDDMM.
func BenchmarkRun(b *testing.B) {
	conformance.BenchmarkSDDMM(b, func(threads int) device.Device { return cpu.New(threads) })
}
