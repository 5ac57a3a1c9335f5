package als

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"sddmmkit/algos/fit"
	"sddmmkit/backend"
	"sddmmkit/dataset"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// BenchmarkGPU trains on as many ratings as Netflix's, of planted factors, from the matrix in memory to the model, and
// reports how much of that time the GPU works. With -v it lists the kernels, and what the host does before the first iteration
// ends. The loss may not rise by more than single precision explains, and where tiles were tried it has to be the loss without,
// within the bound of the parity suite.
//
//	go test -run NONE -bench GPU -benchtime 2x -timeout 10m ./algos/als
func BenchmarkGPU(b *testing.B) {
	const rounding = 1.0 / (1 << 23) // of a loss that no longer falls: it is summed in double precision, of dot products that are not
	dev, err := backend.Open("cuda", backend.Options{})
	if err != nil {
		b.Skip(err)
	}
	defer dev.Close()
	set, err := dataset.Generate[float32](context.Background(), "ratings:480189x17770:98.5M:8:0.5", 0)
	if err != nil {
		b.Fatal(err)
	}
	train := csr(b, set, 0)
	var untuned float64 // the loss
	for _, model := range []struct {
		name   string
		change func(*Options[float32])
	}{
		{"Ratings", func(*Options[float32]) {}},
		{"Tuned", func(o *Options[float32]) { o.Tune = true }},
		{"Biases", func(o *Options[float32]) { o.Biases, o.Mean = true, true }},
		{"Implicit", func(o *Options[float32]) { o.Implicit, o.Alpha, o.Lambda = true, 1, 1 }},
	} {
		b.Run(model.name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				opt := DefaultOptions[float32]()
				opt.Rank = 100
				model.change(&opt)
				timed := conformance.NewTimed(dev.(device.Launcher))
				var times [2]conformance.Times // before the end of the first iteration, and after it
				var first time.Duration
				start, loss := time.Now(), math.Inf(1)
				opt.OnIteration = func(it fit.Iteration) (err error) {
					if !(it.Loss <= loss*(1+rounding)) {
						return fmt.Errorf("the loss is %v after iteration %d, and was %v", it.Loss, it.N, loss)
					}
					loss = it.Loss
					if it.N == 1 {
						first = time.Since(start)
						times[0], err = timed.Take()
					}
					return err
				}
				if _, err := Train(context.Background(), timed, train, opt); err != nil {
					b.Fatal(err)
				}
				wall := time.Since(start)
				switch model.name {
				case "Ratings":
					untuned = loss
				case "Tuned":
					if untuned > 0 && !(math.Abs(loss-untuned) <= singleBound*untuned) {
						b.Fatalf("the loss is %v, and %v without tuning", loss, untuned)
					}
				}
				if times[1], err = timed.Take(); err != nil {
					b.Fatal(err)
				}
				all, later := times[0].Busy()+times[1].Busy(), wall-first
				b.ReportMetric(wall.Seconds(), "s/training")
				b.ReportMetric(first.Seconds(), "s/first")
				b.ReportMetric(100*all.Seconds()/wall.Seconds(), "%busy")
				b.ReportMetric(100*times[1].Busy().Seconds()/later.Seconds(), "%busy/later")
				b.Log(fmt.Sprintf("training %d: %.3f s, of which %.3f to the end of the first iteration\n", n+1, wall.Seconds(), first.Seconds()) +
					"to the end of the first iteration, ms from the start\n" + times[0].Host(time.Millisecond) + times[0].String() +
					"later\n" + times[1].Host(5*time.Millisecond) + times[1].String())
			}
		})
	}
}
