package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

// counted returns 0, 1, … n-1 and two buffers of them.
func counted(t *testing.T, d *Device, n int) (src []float32, x, y *device.Buffer[float32]) {
	t.Helper()
	src = make([]float32, n)
	for i := range src {
		src[i] = float32(i)
	}
	x, err := device.FromHost(d, src)
	if err == nil {
		y, err = device.FromHost(d, src)
	}
	if err != nil {
		t.Fatal(err)
	}
	return src, x, y
}

func TestLaunch(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		k, err := d.Kernel(testProgram("scale_f32"))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := d.Kernel(testProgram("scale_f32")); again != k || err != nil {
			t.Errorf("asked again: another kernel, error %v", err)
		}
		const n, block, edge = 10_000, 128, 3
		src, x, y := counted(t, d, n+2*edge)
		args := []device.Arg{x.View(edge, edge+n).Arg(), y.View(2*edge, 2*edge+n).Arg(), device.Value[float32](-2.5), device.Value[int64](n)}
		before, err := d.Stream().Record()
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Launch((n+block-1)/block, block, 0, args...); err != nil {
			t.Fatal(err)
		}
		after, err := d.Stream().Record()
		if err != nil {
			t.Fatal(err)
		}
		if took, err := after.Since(before); err != nil || took <= 0 {
			t.Errorf("took %v, error %v", took, err)
		}
		want, got := slices.Clone(src), make([]float32, len(src))
		for i := range n {
			want[2*edge+i] = -2.5 * src[edge+i]
		}
		if err := y.Download(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("wrong result, error %v", err)
		}
		if err := k.Launch(0, block, 0, args...); err != nil {
			t.Errorf("no blocks: %v", err)
		}
		if info, err := k.Info(); err != nil || info.Threads < block || info.Registers < 1 {
			t.Errorf("info %+v, error %v", info, err)
		}
		if blocks, err := k.Occupancy(block, 0); err != nil || blocks < 1 {
			t.Errorf("occupancy %d, error %v", blocks, err)
		}
		if err := errors.Join(x.Close(), y.Close(), before.Close(), after.Close(), after.Close()); err != nil {
			t.Error(err)
		}
		if _, err := after.Since(before); !errors.Is(err, device.ErrClosed) {
			t.Errorf("a closed event: %v", err)
		}
	})
}

// Kernels that may start early see what those before them have written all the same.
func TestEarlyLaunch(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		if d.cc < 90 {
			t.Skipf("%s has compute capability %d", d.Name(), d.cc)
		}
		early, err := d.Kernel(&device.Program{Name: "early", PTX: func(int) ([]byte, error) { return earlyPTX, nil }})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := d.Kernel(testProgram("scale_f32"))
		if err != nil {
			t.Fatal(err)
		}
		const n, block, launches = 300_000, 128, 60
		src, x, y := counted(t, d, n)
		for k := range launches { // each reads what the last one has written, as much of it as it has blocks
			kernel, a := early, float32(2)
			if k%2 == 1 {
				a = -0.5
			}
			if k%7 == 6 {
				kernel = plain
			}
			if err := kernel.Launch((n+block-1)/block, block, 0, x.Arg(), y.Arg(), device.Value(a), device.Value[int64](n)); err != nil {
				t.Fatal(err)
			}
			x, y = y, x
		}
		sign := float32(1)
		if launches/2%2 == 1 {
			sign = -1
		}
		got := make([]float32, n)
		if err := x.Download(got); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != sign*src[i] {
				t.Fatalf("element %d is %v, want %v", i, v, sign*src[i])
			}
		}
		if err := errors.Join(x.Close(), y.Close()); err != nil {
			t.Error(err)
		}
	})
}

// Dynamic shared memory of all that a block may have.
func TestDynamicShared(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		k, err := d.Kernel(testProgram("reverse_u32"))
		if err != nil {
			t.Fatal(err)
		}
		for _, shared := range []int{4, 48 << 10, int(d.Props().SharedBytes), 8 << 10} {
			const blocks = 3
			n := shared / 4
			src := make([]uint32, blocks*n)
			for i := range src {
				src[i] = uint32(i) * 2654435761
			}
			x, err := device.FromHost(d, src)
			if err != nil {
				t.Fatal(err)
			}
			y, err := device.Alloc[uint32](d, int64(len(src)))
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Launch(blocks, 128, shared, x.Arg(), y.Arg(), device.Value(int32(n))); err != nil {
				t.Error(err)
			}
			got := make([]uint32, len(src))
			if err := y.Download(got); err != nil {
				t.Error(err)
			}
			for part := range slices.Chunk(src, n) {
				slices.Reverse(part)
			}
			if !slices.Equal(got, src) {
				t.Errorf("%d bytes of shared memory: wrong result", shared)
			}
			if occupied, err := k.Occupancy(128, shared); err != nil || occupied < 1 {
				t.Errorf("%d bytes of shared memory: occupancy %d, error %v", shared, occupied, err)
			}
			if err := errors.Join(x.Close(), y.Close()); err != nil {
				t.Error(err)
			}
		}
	})
}

// Many goroutines compile and launch at the same time, and move from thread to thread.
func TestLaunchAtTheSameTime(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 20 {
					k, err := d.Kernel(testProgram("scale_f32"))
					if err != nil {
						t.Error(err)
						return
					}
					b, err := device.FromHost(d, []float32{1, float32(g), float32(i)})
					if err != nil {
						t.Error(err)
						return
					}
					got := make([]float32, 3)
					err = errors.Join(k.Launch(1, 32, 0, b.Arg(), b.Arg(), device.Value[float32](3), device.Value[int64](3)), b.Download(got), b.Close())
					if want := []float32{3, float32(3 * g), float32(3 * i)}; err != nil || !slices.Equal(got, want) {
						t.Errorf("got %v, want %v, error %v", got, want, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestLaunchRefuses(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d, other := closing(t, open(t)), closing(t, open(t))
		k, err := d.Kernel(testProgram("scale_f32"))
		if err != nil {
			t.Fatal(err)
		}
		alloc := func(d device.Device) *device.Buffer[float32] {
			b, err := device.Alloc[float32](d, 4)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		x, gone, far, host := alloc(d), alloc(d), alloc(other), alloc(cpu.New(1))
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		f, n, small := device.Value[float32](1), device.Value[int64](4), device.Value[int32](4)
		for what, test := range map[string]struct {
			grid          int64
			block, shared int
			args          []device.Arg
			want          string
		}{
			"too few arguments":  {1, 32, 0, []device.Arg{x.Arg(), x.Arg(), f}, "[8 8 8 8 4 8]"},
			"too many arguments": {1, 32, 0, []device.Arg{x.Arg(), x.Arg(), f, n, n}, "was given [8 8 8 8 4 8 8]"},
			"a narrow number":    {1, 32, 0, []device.Arg{x.Arg(), x.Arg(), f, small}, "was given [8 8 8 8 4 4]"},
			"a closed buffer":    {1, 32, 0, []device.Arg{x.Arg(), gone.Arg(), f, n}, "argument 1"},
			"another device":     {1, 32, 0, []device.Arg{far.Arg(), x.Arg(), f, n}, "argument 0 is on cuda:0 opened a second time"},
			"the host":           {1, 32, 0, []device.Arg{x.Arg(), host.Arg(), f, n}, "argument 1 is on cpu"},
			"a negative grid":    {-1, 32, 0, []device.Arg{x.Arg(), x.Arg(), f, n}, "-1 blocks"},
			"a huge grid":        {1 << 40, 32, 0, []device.Arg{x.Arg(), x.Arg(), f, n}, "1099511627776 blocks"},
			"no threads":         {1, 0, 0, []device.Arg{x.Arg(), x.Arg(), f, n}, "blocks of 0 threads"},
			"too many threads":   {1, 1 << 20, 0, []device.Arg{x.Arg(), x.Arg(), f, n}, "blocks of 1048576 threads"},
			"negative shared":    {1, 32, -1, []device.Arg{x.Arg(), x.Arg(), f, n}, "-1 bytes of dynamic shared memory"},
			"too much shared":    {1, 32, 1 << 20, []device.Arg{x.Arg(), x.Arg(), f, n}, "1048576 bytes of dynamic shared memory"},
		} {
			if err := k.Launch(test.grid, test.block, test.shared, test.args...); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "scale_f32") {
				t.Errorf("%s: error %v, want one that says %q", what, err, test.want)
			}
		}
		if err := errors.Join(x.Close(), far.Close(), host.Close(), d.Stream().Synchronize()); err != nil {
			t.Error(err)
		}
	})
}

// The compiler's log is in the error, and the device works on.
func TestCompileErrors(t *testing.T) {
	forDevices(t, func(t *testing.T, open func(t *testing.T) *Device) {
		d := closing(t, open(t))
		bad := &device.Program{Name: "scale_f32", PTX: func(int) ([]byte, error) {
			return bytes.Replace(testPTX, []byte("mul.rn.f32"), []byte("nonsense"), 1), nil
		}}
		_, err := d.Kernel(bad)
		var e *device.Error
		if !errors.As(err, &e) || e.Device != "cuda:0" || !slices.Contains([]string{"cuLinkAddData_v2", "cuLinkComplete", "cuModuleLoadDataEx"}, e.Call) || !strings.Contains(e.Detail, "kernel scale_f32") ||
			!strings.Contains(e.Detail, "line ") || !strings.Contains(e.Detail, "nonsense") {
			t.Errorf("error %v", err)
		}
		if _, err := d.Kernel(testProgram("absent")); !errors.As(err, &e) || e.Call != "cuModuleGetFunction" || !strings.Contains(e.Detail, "kernel absent") {
			t.Errorf("a kernel that the module lacks: %v", err)
		}
		none := fmt.Errorf("no PTX for %w", device.ErrUnsupported)
		if _, err := d.Kernel(&device.Program{Name: "x", PTX: func(int) ([]byte, error) { return nil, none }}); !errors.Is(err, none) {
			t.Errorf("no PTX for the device: %v", err)
		}
		if _, err := d.Kernel(&device.Program{Name: "x"}); !errors.Is(err, device.ErrUnsupported) {
			t.Errorf("no PTX at all: %v", err)
		}
		if _, err := d.Kernel(testProgram("scale_f32")); err != nil {
			t.Errorf("after errors: %v", err)
		}
	})
}

func TestNewerPTX(t *testing.T) {
	f := newFake()
	d := closing(t, openFake(t, f))
	f.fail = func(call string) result { return map[string]result{"cuModuleLoadDataEx": unsupportedPTXVersion}[call] }
	if _, err := d.Kernel(testProgram("fault")); !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "install a newer") {
		t.Errorf("error %v", err)
	}
}

// Kernels are compiled at the same time, each once, and loaded as machine code; as PTX where the bindings cannot compile.
func TestCompileAtTheSameTime(t *testing.T) {
	f := newFake()
	d := closing(t, openFake(t, f))
	names := []string{"scale_f32", "reverse_u32"}
	var all, done sync.WaitGroup
	all.Add(len(names))
	f.compiles = func() { all.Done(); all.Wait() }
	for range 3 {
		for _, name := range names {
			done.Go(func() {
				if _, err := d.Kernel(testProgram(name)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	done.Wait()
	if len(f.modules) != len(names) {
		t.Errorf("%d modules, want %d", len(f.modules), len(names))
	}
	for _, image := range f.modules {
		if !strings.HasPrefix(image, compiled) {
			t.Errorf("loaded %.20q, want machine code", image)
		}
	}
	f = newFake()
	f.lacks["cuLinkAddData_v2"] = true
	if _, err := closing(t, openFake(t, f)).Kernel(testProgram("scale_f32")); err != nil {
		t.Error(err)
	}
	for _, image := range f.modules {
		if image != string(testPTX) {
			t.Errorf("loaded %.20q, want PTX", image)
		}
	}
}

type foreignEvent struct{ device.Event }

func TestForeignEvents(t *testing.T) {
	f := newFake()
	d, other := closing(t, openFake(t, f)), closing(t, openFake(t, f))
	a, err := d.Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []device.Event{b, foreignEvent{}} {
		if _, err := a.Since(e); !errors.Is(err, device.ErrUnsupported) {
			t.Errorf("an event of another device: %v", err)
		}
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

func TestParameterSizes(t *testing.T) {
	for ptx, want := range map[string][]int{
		".visible .entry k(\n\t.param .u64 a,\n\t.param .u32 b\n)\n{": {8, 4},
		".entry k(.param .f64 a, .param .f32 b, .param .u16 c)":       {8, 4, 2},
		".entry k (.param .u64 .ptr .global .align 16 a)":             {8},
		".entry k(.param .align 8 .b8 a[24], .param .b64 b)":          {24, 8},
		".entry k()":                            {},
		".entry k(.param .u64 a, what)":         nil,
		".entry kk(.param .u64 a)":              nil,
		".entry x() .entry k(.param .s32 a) {}": {4},
		"":                                      nil,
	} {
		if got := parameterSizes([]byte(ptx), "k"); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", ptx, got, want)
		}
	}
	for name, want := range map[string][]int{"scale_f32": {8, 8, 8, 8, 4, 8}, "reverse_u32": {8, 8, 8, 8, 4}, "fault": {8, 8}} {
		if got := parameterSizes(testPTX, name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := benchmarkGPU(b)
	k, err := d.Kernel(testProgram("scale_f32"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := k.Launch(1, 32, 0, device.Arg{}, device.Arg{}, device.Value[float32](1), device.Value[int64](0)); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Stream().Synchronize(); err != nil {
		b.Fatal(err)
	}
}
