package opencl_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/opencl"
	"sddmmkit/internal/conformance"
)

func open(t *testing.T) device.Device {
	t.Helper()
	dev, err := opencl.Open(0)
	conformance.Require(t, device.OpenCL, err)
	return dev
}

func TestDevice(t *testing.T) { conformance.Device(t, open) }

func TestLaunch(t *testing.T) { conformance.Launch(t, open) }
