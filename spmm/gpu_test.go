package spmm_test

import (
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// The kernels pass the suite on whatever GPU or OpenCL device there is.
func TestConformanceOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SpMM)
}

// And with operands of 16 bits.
func TestMixedOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, conformance.SpMMMixed)
}
