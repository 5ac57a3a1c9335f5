package kernels

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
	"sddmmkit/internal/dialect"
)

// All that may be launched is there, once, in both forms.
func TestVariants(t *testing.T) {
	there := map[string]bool{}
	for _, v := range Variants() {
		if there[v.Name] {
			t.Errorf("%s is there twice", v.Name)
		}
		there[v.Name] = true
		p, err := v.Program()
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := p.PTX(60)
		if err != nil || !strings.Contains(string(ptx), ".entry "+v.Name+"(") || !strings.Contains(p.Source, "#define NAME "+v.Name+"\n") {
			t.Errorf("%s: source and PTX have no kernel of this name: %v", v.Name, err)
		}
	}
	for _, typ := range dialect.Types {
		for k := 1; k <= 1100; k++ {
			for _, aligned := range []bool{false, true} {
				all := Gathers(typ, k, aligned)
				if len(all) == 0 {
					t.Errorf("K = %d: nothing to try", k)
				}
				for _, g := range all {
					if !there[g.Name()] || k%g.Vector != 0 {
						t.Errorf("K = %d, aligned %v: %s", k, aligned, g.Name())
					}
				}
			}
		}
	}
}

func onGPUs(t *testing.T, test func(t *testing.T, dev device.Launcher)) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, func(t *testing.T, open func(t *testing.T) device.Device) {
		dev := open(t)
		t.Run("test", func(t *testing.T) { test(t, dev.(device.Launcher)) }) // closes what it opened at its end
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("%+v is still open", u)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
}

func launch(t *testing.T, dev device.Launcher, v *dialect.Variant, blocks int64, args ...device.Arg) {
	t.Helper()
	p, err := v.Program()
	if err != nil {
		t.Fatal(err)
	}
	k, err := dev.Kernel(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(blocks, Threads, 0, args...); err != nil {
		t.Fatal(err)
	}
}

func upload[T device.Elem](t *testing.T, dev device.Device, x []T) *device.Buffer[T] {
	t.Helper()
	b, err := device.FromHost(dev, x)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// Sums of small integers are exact in any order: every group has read its rows, and nothing else.
func TestGather(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		t.Run("float", func(t *testing.T) { testGather[float32, float32](t, dev, func(x float32) float32 { return x }) })
		t.Run("double", func(t *testing.T) {
			testGather[float64, float64](t, dev, func(x float32) float64 { return float64(x) })
		})
		t.Run("bfloat16", func(t *testing.T) { testGather[device.BFloat16, float32](t, dev, device.ToBFloat16) })
		t.Run("float16", func(t *testing.T) { testGather[device.Float16, float32](t, dev, device.ToFloat16) })
	})
}

// testGather has operands of type E and sums of type T. number makes an E of a small integer, or NaN.
func testGather[E device.Real, T float32 | float64](t *testing.T, dev device.Launcher, number func(x float32) E) {
	const rows = 50
	typ := dialect.TypeOf[E]()
	for _, v := range []int{1, dialect.VectorOf(typ)} {
		for _, s := range shapes {
			g := Gather{typ, v, s.lanes, s.chunks}
			for _, loads := range []int{1, s.lanes, s.lanes*s.chunks + 1, 3*s.lanes*s.chunks - 1} {
				k := loads * v
				for _, nnz := range []int{1, Run, Run*int(g.Groups()) + 7} {
					stride := k + v // the last load belongs to no row
					b, values := make([]E, rows*stride), make([]T, rows*stride)
					for i := range b {
						x := float32(i%7 + i/stride)
						if i%stride >= k {
							x = float32(math.NaN())
						}
						b[i], values[i] = number(x), T(x)
					}
					cols := make([]int32, nnz)
					groups := (nnz + Run - 1) / Run
					want := make([]T, groups)
					for j := range cols {
						cols[j] = int32((j*j + 3) % rows)
						for _, x := range values[int(cols[j])*stride:][:k] {
							want[j/Run] += x
						}
					}
					out := make([]T, groups+1)
					for i := range out {
						out[i] = T(math.NaN())
					}
					t.Run(fmt.Sprintf("%s/k=%d/nnz=%d", g.Name(), k, nnz), func(t *testing.T) {
						onB, onCols, onOut := upload(t, dev, b), upload(t, dev, cols), upload(t, dev, out)
						launch(t, dev, g.Variant(), (int64(groups)+g.Groups()-1)/g.Groups(), device.Value(int64(nnz)), device.Value(int32(k)),
							onCols.Arg(), onB.Arg(), device.Value(int64(stride)), onOut.Arg())
						if err := onOut.Download(out); err != nil {
							t.Fatal(err)
						}
						for i, x := range want {
							if out[i] != x {
								t.Fatalf("group %d has %v, want %v", i, out[i], x)
							}
						}
						if !math.IsNaN(float64(out[groups])) {
							t.Errorf("wrote %v behind the last group", out[groups])
						}
					})
				}
			}
		}
	}
}

func TestStreams(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		const blocks = 3
		x := make([]float32, blocks*BlockElements)
		sums := make([]float32, len(x)/WarpElements)
		for i := range x {
			x[i] = float32(i % 101)
		}
		in, out, read := upload(t, dev, x), upload(t, dev, make([]float32, len(x))), upload(t, dev, sums)
		launch(t, dev, Copy(), blocks, in.Arg(), out.Arg())
		launch(t, dev, Read(), blocks, in.Arg(), read.Arg())
		got := make([]float32, len(x))
		if err := out.Download(got); err != nil {
			t.Fatal(err)
		}
		var want, total float64
		for i := range x {
			want += float64(x[i])
			if got[i] != x[i] {
				t.Fatalf("element %d is %v, want %v", i, got[i], x[i])
			}
		}
		if err := read.Download(sums); err != nil {
			t.Fatal(err)
		}
		for _, s := range sums {
			total += float64(s)
			if mean := s / WarpElements; mean < 40 || mean > 60 {
				t.Errorf("a warp read elements of %v on average, want about 50", mean)
			}
		}
		if total != want {
			t.Errorf("read %v, want %v", total, want)
		}
	})
}
