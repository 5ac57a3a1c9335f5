package sddmm_test

import (
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// The kernels pass the suite on whatever GPU or OpenCL device there is.
func TestConformanceOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SDDMM)
}

// And with panels of B in shared memory.
func TestSharedOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SDDMMShared)
}

// And with operands of 16 bits.
func TestMixedOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SDDMMMixed)
}

// And with dense panels.
func TestDenseOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SDDMMDense)
}
