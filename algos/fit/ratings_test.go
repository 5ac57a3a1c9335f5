package fit_test

import (
	"fmt"
	"slices"
	"testing"

	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
)

// All values go through f once, whether the host addresses the device or copies part by part.
func TestUpload(t *testing.T) {
	for _, dev := range []device.Device{cpu.New(2), conformance.Remote(cpu.New(2))} {
		for _, n := range []int{0, 1, 1000, 2<<22 + 5} {
			vals, want := make([]float32, n), make([]float32, n)
			for z := range vals {
				vals[z] = float32(z % 1001)
				want[z] = vals[z] - 3
			}
			buf, err := fit.UploadMinus(dev, vals, 3)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, n)
			if err := buf.Download(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %d values arrive changed, error %v", dev.Name(), n, err)
			}
			if err := buf.Close(); err != nil {
				t.Error(err)
			}
		}
		same, err := fit.UploadMinus(dev, []float32{1, 2}, 0)
		if err != nil || same.Len() != 2 {
			t.Fatal(same, err)
		}
		same.Close()
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("%s still holds %+v", dev.Name(), u)
		}
	}
}

// A copy that fails leaves nothing behind.
func TestUploadFails(t *testing.T) {
	dev := conformance.FailingTransfers(conformance.Remote(cpu.New(1)), 2)
	buf, err := fit.UploadMinus(dev, make([]float32, 3<<22), 1)
	if err == nil || buf != nil || dev.Usage() != (device.Usage{}) {
		t.Errorf("buffer %v, error %v, still open %+v", buf, err, dev.Usage())
	}
}

func ExampleSumBlocks() {
	vals := []float32{1, 2, 4}
	fmt.Println(fit.SumBlocks(3, func(lo, hi int64) (s float64) {
		for _, v := range vals[lo:hi] {
			s += float64(v * v)
		}
		return s
	}))
	// Output: 21
}
