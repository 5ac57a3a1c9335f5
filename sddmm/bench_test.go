package sddmm_test

import (
	"context"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
)

// A million non-zeros; GFLOP/s and GB/s by the formulas of conformance.BenchmarkSDDMM.
func BenchmarkRun(b *testing.B) {
	conformance.BenchmarkSDDMM(b, func(threads int) device.Device { return cpu.New(threads) })
}

// launcher is a device whose kernels do nothing.
type launcher struct{ device.Device }

func (launcher) Kind() device.Kind { return device.CUDA }

func (launcher) Kernel(*device.Program) (device.Kernel, error) { return idle{}, nil }

type idle struct{}

func (idle) Launch(int64, int, int, ...device.Arg) error { return nil }
func (idle) Info() (device.KernelInfo, error)            { return device.KernelInfo{}, nil }
func (idle) Occupancy(int, int) (int, error)             { return 1, nil }

// What a call for a GPU takes on the host, but for the driver: small patterns are done in not much more.
func BenchmarkLaunch(b *testing.B) {
	try := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	dev := conformance.Failing(launcher{conformance.Remote(cpu.New(1))}, 1<<30) // which makes buffers its own
	s := ratings()
	pat, err := pattern.Upload(dev, &s.Pattern)
	try(err)
	defer pat.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	try(err)
	defer plan.Close()
	x, err := dense.Zeros[float32](dev, s.Rows, 32)
	try(err)
	defer x.Close()
	y, err := dense.Zeros[float32](dev, s.Cols, 32)
	try(err)
	defer y.Close()
	p, err := device.Alloc[float32](dev, s.NNZ())
	try(err)
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.Run(context.Background(), sddmm.Dot, 1, nil, x, y, 0, p); err != nil {
			b.Fatal(err)
		}
	}
}
