package backend

import (
	"errors"
	"strings"
	"testing"

	"sddmmkit/device"
)

// What "auto" tries may be missing, but for the last, which is the CPU.
func TestAutomatic(t *testing.T) {
	if automatic[len(automatic)-1] != "cpu" {
		t.Errorf("auto tries %q; the CPU must come last, for it is always there", automatic)
	}
	dev, err := openFirst([]string{"cuda:99", "opencl:99", "cpu"}, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if dev.Name() != "cpu" {
		t.Errorf("opened %s", dev.Name())
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if _, err := openFirst([]string{"cuda:98", "cuda:99"}, Options{}); !errors.Is(err, device.ErrUnavailable) || !strings.Contains(err.Error(), "cuda:99") {
		t.Errorf("nothing opens: %v", err)
	}
}
