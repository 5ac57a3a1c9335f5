package spmm_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

func TestConformance(t *testing.T) {
	conformance.SpMM(t, func(*testing.T) device.Device { return cpu.New(2) })
}

func TestMixed(t *testing.T) {
	conformance.SpMMMixed(t, func(*testing.T) device.Device { return cpu.New(2) })
}
