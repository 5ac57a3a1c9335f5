package cuda

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// forDevices runs a test on fakes, which run their work as late and as early as may be, and on the first GPU.
func forDevices(t *testing.T, test func(t *testing.T, open func(t *testing.T) *Device)) {
	for name, eager := range map[string]bool{"late": false, "early": true} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.eager = eager
			// Inside another, so that all that closes at its end has closed.
			t.Run("test", func(t *testing.T) { test(t, func(t *testing.T) *Device { return openFake(t, f) }) })
			if left := f.left(); left != "" {
				t.Errorf("not given back: %s", left)
			}
		})
	}
	t.Run("gpu", func(t *testing.T) { test(t, openGPU) })
}

func openGPU(t *testing.T) *Device {
	t.Helper()
	d, err := Open(0)
	conformance.Require(t, device.CUDA, err)
	return d
}

// closing closes a device at the end of a test.
func closing(t *testing.T, d *Device) *Device {
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
	return d
}

// TestConformance are the suites of all devices. SDDMMKIT_REQUIRE=cuda makes a missing GPU a failure.
func TestConformance(t *testing.T) {
	open := func(t *testing.T) device.Device { return openGPU(t) }
	t.Run("Device", func(t *testing.T) { conformance.Device(t, open) })
	t.Run("Launch", func(t *testing.T) { conformance.Launch(t, open) })
}

func TestConformanceOfFakes(t *testing.T) {
	for name, eager := range map[string]bool{"late": false, "early": true} {
		t.Run(name, func(t *testing.T) {
			var fakes []*fake
			conformance.Device(t, func(t *testing.T) device.Device {
				f := newFake()
				f.eager = eager
				fakes = append(fakes, f)
				return openFake(t, f)
			})
			for _, f := range fakes {
				if left := f.left(); left != "" {
					t.Errorf("not given back: %s", left)
				}
			}
		})
	}
}

func TestProps(t *testing.T) {
	d := closing(t, openFake(t, newFake()))
	p := d.Props()
	if p.Name != "cuda:0" || p.Kind != device.CUDA || p.Model != "Fake" || p.Units != 132 || p.Lanes != 32 || p.L2Bytes != 60<<20 || p.LineBytes != 128 ||
		p.SharedBytes != 227<<10 || p.BlockThreads != 1024 || p.MemoryBytes != 1<<30 || p.Architecture != "sm_90" {
		t.Errorf("properties %+v", p)
	}
	if d.ComputeCapability() != 90 || d.DriverVersion() != "12.9" || d.UUID() != "GPU-00112233-4455-6677-8899-aabbccddeeff" {
		t.Errorf("capability %d, driver %s, %s", d.ComputeCapability(), d.DriverVersion(), d.UUID())
	}
}

func TestPropsOfGPU(t *testing.T) {
	d := closing(t, openGPU(t))
	p := d.Props()
	t.Logf("%+v, driver for CUDA %s, %s", p, d.DriverVersion(), d.UUID())
	if p.Model == "" || p.Units < 1 || p.Lanes != 32 || p.MemoryBytes < 1<<20 || p.SharedBytes < 48<<10 || p.L2Bytes < 1 || d.ComputeCapability() < 50 {
		t.Errorf("properties %+v", p)
	}
}

// wantUnavailable checks an error that tells users what is missing.
func wantUnavailable(t *testing.T, err error, texts ...string) {
	t.Helper()
	var e *device.Error
	if !errors.Is(err, device.ErrUnavailable) || !errors.As(err, &e) || !strings.HasPrefix(e.Device, "cuda") {
		t.Errorf("error %v, want a *device.Error of cuda that is device.ErrUnavailable", err)
		return
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
}

func TestUnavailable(t *testing.T) {
	old := newFake()
	old.cuda = 11040
	wantUnavailable(t, ready(old), "11.4", "12.0", "install")

	none := newFake()
	none.devices = 0
	if _, err := count(none); err == nil {
		t.Error("counted no devices")
	}
	_, err := open(none, 0)
	wantUnavailable(t, err, "no NVIDIA GPU", "nvidia-smi")

	silent := newFake()
	silent.fail = func(call string) result { return map[string]result{"cuInit": noDevice}[call] }
	wantUnavailable(t, ready(silent), "no NVIDIA GPU")
	silent.fail = func(call string) result { return map[string]result{"cuInit": 999}[call] }
	wantUnavailable(t, ready(silent), "cuInit")

	for _, number := range []int{-1, 2, 99} {
		_, err := open(newFake(), number)
		wantUnavailable(t, err, "2 GPUs")
	}
}

// Whichever call fails when a device is opened, used a little and closed, the error says which. Where it does not open, nothing
// stays behind; what closes reports what it could not give back.
func TestOpenAndCloseFail(t *testing.T) {
	for n := 0; ; n++ {
		f := newFake()
		var failed string
		f.fail = func(call string) result {
			if len(f.calls) == n+1 {
				failed = call
				return 999
			}
			return success
		}
		d, err := open(f, 0)
		opened := err == nil
		if opened && failed != "" {
			t.Errorf("%s failed and the device opened", failed)
		}
		if opened {
			if _, err = d.Kernel(testProgram("fault")); err == nil {
				err = d.Close()
			}
		}
		if failed == "" {
			if err != nil || n < 20 {
				t.Errorf("%d calls, error %v", n, err)
			}
			return
		}
		var e *device.Error
		if !errors.As(err, &e) || e.Call != failed || e.Code != 999 || !strings.HasPrefix(e.Device, "cuda") {
			t.Errorf("%s failed: error %v", failed, err)
		}
		if left := f.left(); !opened && left != "" {
			t.Errorf("%s failed: not given back: %s", failed, left)
		}
	}
}

func TestCloseRefusesOpenBuffers(t *testing.T) {
	f := newFake()
	d := openFake(t, f)
	m, err := d.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "1 buffers with 10 bytes") {
		t.Errorf("closing with an open buffer: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closing(t, d)
}

func TestClosedDevice(t *testing.T) {
	d := openFake(t, newFake())
	k, err := d.Kernel(testProgram("scale_f32"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	_, alloc := d.Alloc(1)
	_, record := d.Stream().Record()
	_, kernel := d.Kernel(testProgram("fault"))
	_, occupancy := k.Occupancy(32, 0)
	for what, err := range map[string]error{"Alloc": alloc, "Record": record, "Synchronize": d.Stream().Synchronize(), "Kernel": kernel, "Occupancy": occupancy,
		"Launch": k.Launch(1, 32, 0, device.Arg{}, device.Arg{}, device.Value[float32](1), device.Value[int64](0))} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s on a closed device: %v", what, err)
		}
	}
}

func TestCanAccess(t *testing.T) {
	f := newFake()
	a := closing(t, openFake(t, f))
	b, err := open(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, b)
	if can, err := a.CanAccess(b); err != nil || !can {
		t.Errorf("%v, %v", can, err)
	}
	if can, err := a.CanAccess(a); err != nil || can {
		t.Errorf("itself: %v, %v", can, err)
	}
}

func TestPeersOfGPU(t *testing.T) {
	a := closing(t, openGPU(t))
	n, err := Count()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		b, err := Open(i)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, b)
		can, err := a.CanAccess(b)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s reaches the memory of %s: %v", a.Name(), b.Name(), can)
		if a.UUID() == b.UUID() && a.UUID() != "" {
			t.Errorf("%s and %s are both %s", a.Name(), b.Name(), a.UUID())
		}
	}
}

// A fault of a kernel is reported by the next call that waits, by all calls after it, and frees leave nothing open. It
// spoils the context of the whole process, so on a GPU the test runs in a process of its own.
func TestFault(t *testing.T) {
	fault := func(t *testing.T, d *Device) {
		b, err := device.FromHost(d, []float32{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.Kernel(testProgram("fault"))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Launch(1, 1, 0, device.Arg{}); err != nil {
			t.Errorf("the launch reported %v", err)
		}
		for _, call := range []string{"first", "second"} {
			var e *device.Error
			if err := b.Download(make([]float32, 3)); !errors.As(err, &e) || e.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || e.Device != "cuda:0" {
				t.Errorf("the %s call after it: %v", call, err)
			}
		}
		if err := b.Close(); err == nil {
			t.Error("the buffer closed without an error")
		}
		if u := d.Usage(); u != (device.Usage{}) {
			t.Errorf("%+v is open", u)
		}
		if err := d.Close(); err == nil {
			t.Error("the device closed without an error")
		}
	}
	t.Run("fake", func(t *testing.T) { fault(t, openFake(t, newFake())) })
	t.Run("gpu", func(t *testing.T) {
		const alone = "SDDMMKIT_TEST_FAULT"
		if os.Getenv(alone) != "" {
			fault(t, openGPU(t))
			return
		}
		if err := openGPU(t).Close(); err != nil {
			t.Fatal(err)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, "-test.run=^TestFault$/^gpu$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestFault/gpu") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
