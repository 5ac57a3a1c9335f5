package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sddmmkit/device"
)

// wantShape checks for a *device.ShapeError that mentions the texts.
func wantShape(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	var shape *device.ShapeError
	if !errors.As(err, &shape) {
		t.Errorf("%s: error %v (%T), want a *ShapeError", what, err, err)
		return
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: error %q does not say %q", what, err, s)
		}
	}
}

// wantIs checks that err is of the class target.
func wantIs(t *testing.T, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: error %v, want one that is %q", what, err, target)
	}
}

// wantNil checks for an error that names the nil operand.
func wantNil(t *testing.T, what string, err error, operand string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), operand+" is nil") {
		t.Errorf("%s: error %v, want one that says %q", what, err, operand+" is nil")
	}
}

// wantMismatch checks for a *device.MismatchError that names the operands and their devices.
func wantMismatch(t *testing.T, what string, err error, a, b string) {
	t.Helper()
	var m *device.MismatchError
	if !errors.As(err, &m) {
		t.Errorf("%s: error %v (%T), want a *MismatchError", what, err, err)
		return
	}
	if m.A != a || m.B != b || m.OnA == "" || m.OnB == "" {
		t.Errorf("%s: error names %s on %q and %s on %q, want %s and %s with their devices", what, m.A, m.OnA, m.B, m.OnB, a, b)
	}
}

// otherDevice opens a second device, or skips the test where a device opens once only.
func otherDevice(t *testing.T, open Open, dev device.Device) device.Device {
	t.Helper()
	other := start(t, open)
	if other == dev {
		t.Skipf("%s opens once only", dev.Name())
	}
	return other
}

// failEach runs the scenario with the first, the second, … allocation failing, until it makes no
// more of them, and then the same with copies and fills. The scenario returns the first error it
// gets; all that it made must be closed. It must make at least the given numbers of calls.
func failEach(t *testing.T, open Open, allocations, transfers int, scenario func(dev device.Device) error) {
	t.Helper()
	t.Run("FailingAllocations", func(t *testing.T) {
		failEachCall(t, open, Failing, device.ErrOutOfMemory, allocations, scenario)
	})
	t.Run("FailingTransfers", func(t *testing.T) {
		failEachCall(t, open, FailingTransfers, errTransfer, transfers, scenario)
	})
}

func failEachCall(t *testing.T, open Open, fail func(device.Device, int) FailingDevice, class error, atLeast int, scenario func(dev device.Device) error) {
	t.Helper()
	for n := 1; ; n++ {
		dev := open(t)
		failing := fail(dev, n)
		err := scenario(failing)
		checkNoLeak(t, dev)
		must(t, dev.Close())
		if !failing.Failed() {
			if err != nil {
				t.Errorf("with nothing failing: %v", err)
			}
			if n <= atLeast {
				t.Errorf("the scenario made %d such calls, want at least %d: it does not test what it should", n-1, atLeast)
			}
			return
		}
		wantIs(t, "a failed call", err, class)
		if t.Failed() {
			t.Fatalf("call %d", n)
		}
	}
}

// cancelled checks that run stops when ctx is done: at once when it was done before, and otherwise
// after the units of work that had begun. run is given the device to work on.
func cancelled(t *testing.T, dev device.Device, units int, run func(ctx context.Context, dev device.Device) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantIs(t, "cancelled before", run(ctx, dev), context.Canceled)

	ctx, cancel = context.WithTimeoutCause(context.Background(), -time.Second, nil)
	defer cancel()
	wantIs(t, "deadline before", run(ctx, dev), context.DeadlineExceeded)

	h, ok := dev.(device.Host)
	if !ok {
		return
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	began := make(chan struct{}, units+1)
	err := run(ctx, watched(h, func(int) {
		cancel()
		began <- struct{}{}
	}))
	wantIs(t, "cancelled while running", err, context.Canceled)
	if n := len(began); n == 0 || n > h.Threads() {
		t.Errorf("%d of %d units ran although the first cancelled the rest; want at most one per thread (%d)", n, units, h.Threads())
	}
}
