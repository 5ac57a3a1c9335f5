package sddmm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
)

// A device without kernels is an error that says so, and leaves nothing behind.
func TestUnsupportedDevice(t *testing.T) {
	dev := conformance.Remote(cpu.New(1))
	s := ratings()
	err := sddmm.Compute(context.Background(), dev, sddmm.Dot, 1, s, dense.New[float32](2, 4), dense.New[float32](3, 4), 0, s.Val)
	if !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "SDDMM for remote devices") {
		t.Errorf("error %v, want device.ErrUnsupported", err)
	}
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sddmm.NewPlan[float32](pat); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("NewPlan: error %v, want device.ErrUnsupported", err)
	}
	pat.Close()
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("%+v is still open", u)
	}
}
