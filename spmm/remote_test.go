package spmm_test

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
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// A device without kernels is an error that says so, and leaves nothing behind.
func TestUnsupportedDevice(t *testing.T) {
	dev := conformance.Remote(cpu.New(1))
	s := &sparse.CSR[float32]{Pattern: sparse.Pattern{Rows: 1, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{1}}, Val: []float32{1}}
	err := spmm.Compute(context.Background(), dev, spmm.NoTrans, 1, s, dense.New[float32](2, 4), 0, dense.New[float32](1, 4))
	if !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "SpMM for remote devices") {
		t.Errorf("error %v, want device.ErrUnsupported", err)
	}
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spmm.NewPlan[float32](pat); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("NewPlan: error %v, want device.ErrUnsupported", err)
	}
	pat.Close()
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("%+v is still open", u)
	}
}
