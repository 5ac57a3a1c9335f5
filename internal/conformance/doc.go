// Package conformance holds the tests that every device and every path of the operations passes.
// A driver's test calls them in one line each:
//
//	func TestDevice(t *testing.T) {
//		conformance.Device(t, func(t *testing.T) device.Device { return cpu.New(0) })
//	}
//
// The yardstick is always a plain float64 loop (sddmm.Reference, spmm.Reference, or one written
// here). Sums of small integers must match it exactly; all else must stay within a bound that is
// derived, not chosen: see bounds.go. Operands stand between guards and have gaps between their
// rows; outputs that must not be read hold NaN; every allocation is counted.
package conformance

import (
	"testing"

	"sddmmkit/device"
)

// Open opens the device under test. The suites close it.
type Open = func(t *testing.T) device.Device

// Float is the element type.
type Float interface{ float32 | float64 }

// start opens a device and checks, when the test has ended, that nothing on it is left open.
func start(t *testing.T, open Open) device.Device {
	t.Helper()
	dev := open(t)
	t.Cleanup(func() {
		checkNoLeak(t, dev)
		if err := dev.Close(); err != nil {
			t.Errorf("closing %s: %v", dev.Name(), err)
		}
	})
	return dev
}

func checkNoLeak(t *testing.T, dev device.Device) {
	t.Helper()
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Errorf("%d buffers with %d bytes are still open on %s", u.Buffers, u.Bytes, dev.Name())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
