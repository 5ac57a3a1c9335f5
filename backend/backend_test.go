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
	for _, name := range []string{"tpu", "cuda:99", "opencl:99", "opencl:", "opencl:-1", "opencl:0x0", "opencl:4294967296", "cuda:", "cuda:-1", "cuda:+1", "CUDA", "cuda0", "CPU", "cpu:1", " cpu"} {
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
	for _, kind := range []device.Kind{device.CUDA, device.OpenCL} {
		t.Run(string(kind), func(t *testing.T) {
			dev, err := backend.Open(string(kind), backend.Options{})
			conformance.Require(t, kind, err)
			defer dev.Close()
			first := string(kind) + ":0"
			if dev.Name() != first || dev.Kind() != kind || !slices.Contains(backend.Names(), first) {
				t.Errorf("opened %q, of %v", dev.Name(), backend.Names())
			}
		})
	}
}
