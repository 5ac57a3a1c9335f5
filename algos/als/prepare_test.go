package als

import (
	"context"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/sparse"
)

// asCUDA is a device that says that it is of CUDA, for which the model chooses.
type asCUDA struct{ device.Launcher }

func (asCUDA) Kind() device.Kind { return device.CUDA }

// All that training launches on a GPU is compiled while the ratings are uploaded.
func TestPreparedForGPUs(t *testing.T) {
	dev, err := backend.Open("opencl", backend.Options{})
	conformance.Require(t, device.OpenCL, err)
	defer dev.Close()
	t.Setenv(cpu.CacheVariable, "off")                    // nobody measures a cache
	large := randomRatings[float32](t, 1500, 700, 0.1, 3) // the GPU plans, and the model chooses
	all := variants[float32](220)
	for _, name := range []string{"weighted", "both", "implicit"} {
		prepared(t, name, dev.(device.Launcher), large, all[name])
		prepared(t, name+", few ratings", dev.(device.Launcher), randomRatings[float32](t, 60, 40, 0.3, 4), all[name])
	}
}

// prepared runs an iteration, and compares what it launches with what is prepared for it.
func prepared(t *testing.T, name string, dev device.Launcher, r *sparse.CSR[float32], opt Options[float32]) {
	t.Helper()
	timed := conformance.NewTimed(asCUDA{dev})
	s, err := newSolver(timed, r, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.Iterate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Loss(context.Background()); err != nil {
		t.Fatal(err)
	}
	times, err := timed.Take()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{"fill": true, "copy": true}
	for _, p := range programs(dev, r, &opt) {
		there[p.Name] = true
	}
	for kernel := range times.Work {
		if !there[kernel] {
			t.Errorf("%s, %d ratings: %s is not prepared", name, r.NNZ(), kernel)
		}
	}
}
