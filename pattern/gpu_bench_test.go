package pattern_test

import (
	"context"
	"math"
	"testing"
	"time"

	"sddmmkit/backend"
	"sddmmkit/dataset"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// BenchmarkPlanning makes all that SDDMM and SpMM in both directions want of a pattern on a GPU, with a GPU that plans and with
// a host that does, and reports milliseconds of each step.
//
//	go test -run NONE -bench Planning/cuda -benchtime 3x ./pattern
func BenchmarkPlanning(b *testing.B) {
	for _, name := range []string{"cuda", "opencl"} {
		b.Run(name, func(b *testing.B) {
			dev, err := backend.Open(name, backend.Options{})
			if err != nil {
				b.Skip(err)
			}
			defer dev.Close()
			benchPlanning(b, dev)
		})
	}
}

func benchPlanning(b *testing.B, dev device.Device) {
	b.Helper()
	for _, spec := range []string{
		"skewed:480189x17770:98.5M:rows=1:cols=0.9", "skewed:300000x102660:69.6M:rows=0.8:cols=0.9", "uniform:100000x100000:9.95M",
		"skewed:916428x916428:4.74M:rows=1:cols=0.8", "skewed:2000x12000:0.75M:rows=0.6:cols=0.9",
	} {
		set, err := dataset.Generate[float32](context.Background(), spec, 0)
		if err != nil {
			b.Fatal(err)
		}
		m, err := sparse.FromCOO(set.COO, sparse.BuildOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for name, least := range map[string]int64{"gpu": 0, "host": math.MaxInt64} {
			b.Run(name+"/"+spec, func(b *testing.B) {
				pattern.PlanOnGPU(b, least)
				spent := map[string]time.Duration{}
				planSteps(b, dev, &m.Pattern, spent) // loads the kernels
				clear(spent)
				for b.Loop() {
					planSteps(b, dev, &m.Pattern, spent)
				}
				for step, t := range spent {
					b.ReportMetric(t.Seconds()*1e3/float64(b.N), "ms/"+step)
				}
			})
		}
	}
}

func planSteps(b *testing.B, dev device.Device, p *sparse.Pattern, spent map[string]time.Duration) {
	b.Helper()
	step := func(name string, do func() error) {
		start := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		if err := dev.Stream().Synchronize(); err != nil {
			b.Fatal(err)
		}
		spent[name] += time.Since(start)
	}
	var r *pattern.Resident
	step("upload", func() (err error) { r, err = pattern.Upload(dev, p); return err })
	defer r.Close()
	step("starts", func() error { _, err := r.Launches(); return err })
	step("pieces", func() error { _, err := r.Pieces(256); return err })
	step("panels", func() error { _, err := r.CountPanels([]int{1792, 896, 448, 224}); return err })
	step("cut", func() error { _, err := r.Shared(model.Tile{Ti: 40_960, Tj: 448, Panels: 30}); return err })
	step("transpose", func() error { _, err := r.Transpose(); return err })
}
