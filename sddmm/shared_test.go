package sddmm_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// modelShared is the shared memory of a GPU that the model knows.
const modelShared = 227 << 10

// asCUDA is a device that the model takes for such a GPU.
type asCUDA struct{ device.Launcher }

func (asCUDA) Kind() device.Kind { return device.CUDA }

func (d asCUDA) Props() device.Props {
	p := d.Launcher.Props()
	p.Units, p.L2Bytes, p.SharedBytes = 4, 60<<20, modelShared
	return p
}

// popular is a pattern whose first columns have all but a few of its non-zeros, too many of them for L1, and which the model tiles.
func popular() *sparse.CSR[float32] {
	rng := rand.New(rand.NewPCG(8, 9))
	s := &sparse.CSR[float32]{Pattern: sparse.Pattern{Rows: 600, Cols: 5000, RowPtr: []int64{0}}}
	for range s.Rows {
		for j := range s.Cols {
			share := 0.003
			if j < 3000 {
				share = 0.3
			}
			if rng.Float64() < share {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, float32(rng.IntN(7)-3))
			}
		}
		s.RowPtr = append(s.RowPtr, int64(len(s.ColIdx)))
	}
	return s
}

// small are matrices of whole numbers, so that all sums are exact.
func small(rows, cols int, seed uint64) dense.Matrix[float32] {
	rng := rand.New(rand.NewPCG(seed, 7))
	m := dense.New[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.IntN(5) - 2)
	}
	return m
}

// modelled returns a device that runs the tiles of such a GPU.
func modelled(t *testing.T) device.Device {
	dev, err := backend.Open("opencl", backend.Options{})
	conformance.Require(t, device.OpenCL, err)
	if has := dev.Props().SharedBytes; has < modelShared {
		dev.Close()
		t.Skipf("%s has %d bytes of shared memory; the test's tiles take %d", dev.Name(), has, modelShared)
	}
	t.Setenv(cpu.CacheVariable, "off") // nobody measures a cache
	return dev
}

// A plan takes the scheme that the model chooses, and gathers where the device has no memory for it.
func TestModelChoosesOnGPUs(t *testing.T) {
	dev := modelled(t)
	defer dev.Close()
	const k = 512
	s := popular()
	a, b := small(s.Rows, k, 1), small(s.Cols, k, 2)
	want, _ := sddmm.Reference(sddmm.Scale, 1, s, a, b, 0, nil)
	tiled, gathered := 0, 0
	for n := 7; tiled == 0; n++ { // the first six are the pattern and the operands
		failing := conformance.Failing(asCUDA{dev.(device.Launcher)}, n)
		tile := runChosen(t, failing, s, a, b, want)
		switch {
		case tile != (model.Tile{}) && !failing.Failed():
			tiled++
		case tile == (model.Tile{}) && failing.Failed():
			gathered++
		default:
			t.Fatalf("allocation %d: tile %v, failed %t", n, tile, failing.Failed())
		}
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("allocation %d: %+v is still open", n, u)
		}
	}
	if gathered < 7 {
		t.Errorf("%d runs gathered: the test does not test what it should", gathered)
	}
}

// runChosen runs a plan twice, checks what it gives and returns its tile.
func runChosen(t *testing.T, dev device.Device, s *sparse.CSR[float32], a, b dense.Matrix[float32], want []float64) (tile model.Tile) {
	t.Helper()
	onPlan(t, dev, s, a, b, func(plan *sddmm.Plan[float32], run func(sddmm.Epilogue, []float64)) {
		run(sddmm.Scale, want)
		run(sddmm.Scale, want)
		var settled bool
		if tile, settled = plan.Tile(a.Cols); !settled {
			t.Error("the tile is not settled after two calls")
		}
	})
	return tile
}

// onPlan calls use with a plan on a device, and a function that runs it and checks what it gives. It leaves nothing on the device.
func onPlan(t *testing.T, dev device.Device, s *sparse.CSR[float32], a, b dense.Matrix[float32], use func(plan *sddmm.Plan[float32], run func(f sddmm.Epilogue, want []float64))) {
	t.Helper()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pat, err := pattern.Upload(dev, &s.Pattern)
	try(err)
	defer pat.Close()
	x, err := dense.Upload(dev, a)
	try(err)
	defer x.Close()
	y, err := dense.Upload(dev, b)
	try(err)
	defer y.Close()
	vals, err := device.FromHost(dev, s.Val)
	try(err)
	defer vals.Close()
	out, err := device.Alloc[float32](dev, s.NNZ())
	try(err)
	defer out.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	try(err)
	defer plan.Close()
	got := make([]float32, s.NNZ())
	use(plan, func(f sddmm.Epilogue, want []float64) {
		t.Helper()
		for z := range got {
			got[z] = float32(math.NaN())
		}
		try(out.Upload(got))
		try(plan.Run(context.Background(), f, 1, vals, x, y, 0, out))
		try(out.Download(got))
		for z := range want {
			if float64(got[z]) != want[z] || math.Signbit(float64(got[z])) != math.Signbit(want[z]) && want[z] != 0 {
				t.Fatalf("value %d is %v, want %v", z, got[z], want[z])
			}
		}
	})
}
