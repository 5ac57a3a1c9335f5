package conformance

import (
	"testing"

	"sddmmkit/device"
)

// OnGPUs runs a suite on the first CUDA device and on the first OpenCL device, which PoCL makes of a CPU. Where there
// is none, Require decides. open is backend.Open.
func OnGPUs(t *testing.T, open func(name string) (device.Device, error), suite func(t *testing.T, open func(t *testing.T) device.Device)) {
	for _, kind := range []device.Kind{device.CUDA, device.OpenCL} {
		t.Run(string(kind), func(t *testing.T) {
			suite(t, func(t *testing.T) device.Device {
				dev, err := open(string(kind))
				Require(t, kind, err)
				return dev
			})
		})
	}
}
