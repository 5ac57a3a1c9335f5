package backend_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

func TestOpen(t *testing.T) {
	for _, name := range append(backend.Names(), "", "auto", "cpu") {
		dev, err := backend.Open(name, backend.Options{Threads: 2})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if name != "" && name != "auto" && dev.Name() != name {
			t.Errorf("opened %q by the name of %q", dev.Name(), name)
		}
		if h, ok := dev.(device.Host); ok && h.Threads() != 2 {
			t.Errorf("%q works with %d threads, want 2", name, h.Threads())
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"tpu", "cuda:99", "opencl:99", "opencl:", "opencl:-1", "opencl:0x0", "opencl:4294967296", "CPU", "cpu:1", " cpu"} {
		dev, err := backend.Open(name, backend.Options{})
		if !errors.Is(err, device.ErrUnavailable) || dev != nil {
			t.Errorf("%q: device %v, error %v; want device.ErrUnavailable", name, dev, err)
			continue
		}
		for _, s := range append(backend.Names(), name) {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q: error %q does not name %q", name, err, s)
			}
		}
	}
}

// The first of a kind needs no number.
func TestOpenFirst(t *testing.T) {
	dev, err := backend.Open("opencl", backend.Options{})
	conformance.Require(t, device.OpenCL, err)
	defer dev.Close()
	if dev.Name() != "opencl:0" || dev.Kind() != device.OpenCL || !slices.Contains(backend.Names(), "opencl:0") {
		t.Errorf("opened %q, of %v", dev.Name(), backend.Names())
	}
}
