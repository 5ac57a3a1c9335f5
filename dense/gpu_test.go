package dense_test

import (
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// gpus are the devices other than the CPU that tests and benchmarks run on, where they are available.
var gpus = map[device.Kind]string{device.OpenCL: "opencl:0", device.CUDA: "cuda:0"}

func TestGPU(t *testing.T) {
	for kind, name := range gpus {
		t.Run(name, func(t *testing.T) {
			conformance.Dense(t, func(t *testing.T) device.Device {
				dev, err := backend.Open(name, backend.Options{})
				conformance.Require(t, kind, err)
				return dev
			})
		})
	}
}
