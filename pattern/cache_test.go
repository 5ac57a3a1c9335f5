package pattern_test

import (
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/remember"
	"sddmmkit/pattern"
)

// The knee lies between the sets on both sides of it.
func TestL2Knee(t *testing.T) {
	const nominal = 16 << 20
	flat := func() []float64 {
		rates := make([]float64, pattern.L2RateCount)
		for n := range rates {
			rates[n] = 100
		}
		return rates
	}
	if got := pattern.L2Knee(flat(), nominal); got != nominal {
		t.Errorf("rates that do not fall: %d", got)
	}
	fall := flat()
	for n := 6; n < len(fall); n++ { // from 10 MB on
		fall[n] = 70
	}
	if got := pattern.L2Knee(fall, nominal); got != 19<<19 { // half way from 100 to 70
		t.Errorf("rates that fall from 100 at 9 MB to 70 at 10: %d, want 9.5 MB", got)
	}
	late := flat()
	late[len(late)-1] = 1
	if got := pattern.L2Knee(late, nominal); got != nominal {
		t.Errorf("a knee beyond the nominal size: %d", got)
	}
}

func TestMeasureL2(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		nominal := max(dev.Props().L2Bytes, 4<<20)
		got, err := pattern.MeasureL2(dev, nominal)
		if err != nil || got < nominal/4 || got > nominal {
			t.Errorf("%d of %d bytes, error %v", got, nominal, err)
		}
		t.Logf("%d of %d bytes", got, nominal)
	})
}

// What was measured on a machine is kept, and where nothing can be kept nothing is measured.
func TestUsableL2(t *testing.T) {
	t.Setenv(remember.Variable, t.TempDir())
	dev := newGPU(device.CUDA)
	if got := pattern.UsableL2(dev); got != 0 {
		t.Errorf("a device that launches nothing was measured: %d", got)
	}
	store := remember.NewStore[int64]("l2", "  , 132 units, L2 of 62914560 bytes"[1:], 1)
	for _, test := range []struct{ stored, want int64 }{{50 << 20, 50 << 20}, {61 << 20, 0}, {-1, 0}} {
		if !store.Save(test.stored) {
			t.Fatal("not stored")
		}
		if got := pattern.UsableL2(dev); got != test.want {
			t.Errorf("stored %d: got %d, want %d", test.stored, got, test.want)
		}
	}
	store.Save(50 << 20)
	if got := pattern.UsableL2(newGPU(device.OpenCL)); got != 0 {
		t.Errorf("an OpenCL device has %d", got)
	}
	t.Setenv(remember.Variable, "off")
	if got := pattern.UsableL2(dev); got != 0 {
		t.Errorf("without a folder: %d", got)
	}
}
