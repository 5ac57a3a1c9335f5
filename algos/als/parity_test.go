package als

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	"sddmmkit/algos/fit"
	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/sparse"
)

// Training on a GPU goes as on the CPU for the same seed.
func TestParityOnGPUs(t *testing.T) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, func(t *testing.T, open func(t *testing.T) device.Device) {
		dev := open(t)
		defer dev.Close()
		t.Run("float32", func(t *testing.T) { parity[float32](t, dev) })
		t.Run("float64", func(t *testing.T) { parity[float64](t, dev) })
	})
}

// singleBound is how far apart losses in single precision may be, relative to their size. Six steps leave conjugate gradients unfinished where a
// row has fewer ratings than factors, and rounding grows from step to step: the CPU's own instruction sets end 1.2e-4 apart at rank 100.
const singleBound = 5e-4

func parity[T sparse.Float](t *testing.T, dev device.Device) {
	bound := 1e-10
	if unsafe.Sizeof(T(0)) == 4 {
		bound = singleBound
	}
	check := func(name string, r *sparse.CSR[T], opt Options[T]) {
		t.Run(name, func(t *testing.T) {
			conformance.Parity(t, trained(t, cpu.New(2), r, opt), trained(t, dev, r, opt), bound)
		})
	}
	ratings := randomRatings[T](t, 60, 40, 0.3, 1) // some rows and columns are empty
	for name, opt := range variants[T](8) {
		check(name, ratings, opt)
	}
	dislikes := randomRatings[T](t, 60, 40, 0.3, 2)
	for z := range dislikes.Val {
		if z%5 == 0 {
			dislikes.Val[z] = -dislikes.Val[z]
		}
	}
	opt := DefaultOptions[T]()
	opt.Rank, opt.Iterations, opt.Implicit, opt.Alpha = 12, 4, true, 0.7
	check("implicit with dislikes, alpha 0.7", dislikes, opt)
	for _, rank := range []int{1, 2, 3, 33, 64, 100, 1024} {
		opt := DefaultOptions[T]()
		opt.Rank, opt.Iterations = rank, 3
		if rank > 100 {
			opt.Iterations = 1
		}
		check(fmt.Sprintf("rank %d", rank), ratings, opt)
	}
}

// trained trains on a device and checks that nothing stays behind.
func trained[T sparse.Float](t *testing.T, dev device.Device, r *sparse.CSR[T], opt Options[T]) conformance.Trained {
	t.Helper()
	var out conformance.Trained
	opt.OnIteration = func(it fit.Iteration) error {
		out.Loss = append(out.Loss, it.Loss)
		return nil
	}
	res, err := Train(context.Background(), dev, r, opt)
	if err != nil {
		t.Fatal(err)
	}
	if u := dev.Usage(); u != (device.Usage{}) {
		t.Fatalf("after training %s still holds %+v", dev.Name(), u)
	}
	m := res.Model
	for u := range r.Rows {
		for i := range r.Cols {
			out.Predictions = append(out.Predictions, m.Predict(u, i))
		}
	}
	return out
}
