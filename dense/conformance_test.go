package dense_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Dense(t, func(*testing.T) device.Device { return cpu.New(2) })
}
