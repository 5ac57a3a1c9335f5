package als

import (
	"context"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

// On GPUs rows of factors begin at multiples of 16 bytes, and the columns that make up for it stay zero.
func TestPaddingOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, func(t *testing.T, open func(t *testing.T) device.Device) {
		dev := open(t)
		defer dev.Close()
		padding(t, dev, false, 8, 8)
		padding(t, dev, true, 8, 12)
	})
	dev := cpu.New(1)
	defer dev.Close()
	padding(t, dev, false, 5, 5)
	padding(t, dev, true, 6, 7)
}

func padding(t *testing.T, dev device.Device, biases bool, unknowns, width int) {
	t.Helper()
	opt := DefaultOptions[float32]()
	opt.Rank, opt.Biases = 5, biases
	s, err := newSolver(dev, randomRatings[float32](t, 30, 20, 0.4, 1), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.Iterate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.Unknowns != unknowns || s.X.Cols != width || s.Y.Cols != width {
		t.Fatalf("biases %t: %d unknowns, X %s, Y %s; want %d and %d columns", biases, s.Unknowns, s.X.Shape(), s.Y.Shape(), unknowns, width)
	}
	used := opt.Rank
	if biases {
		used++
	}
	for name, m := range map[string]*dense.Resident[float32]{"X": s.X, "Y": s.Y} {
		rows, err := m.Download()
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Rows {
			for k, v := range rows.Row(i) {
				if k >= used && !(biases && k == unknowns) && v != 0 {
					t.Fatalf("biases %t: element (%d,%d) of %s is %v, want 0", biases, i, k, name, v)
				}
			}
		}
	}
}
