package opencl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/conformance"
	"sddmmkit/internal/dl"
)

func TestDeviceOnFake(t *testing.T) {
	f := fakeWithGPU()
	conformance.Device(t, func(t *testing.T) device.Device { return f.open(t) })
	if len(f.live) != 0 {
		t.Errorf("%d objects are left", len(f.live))
	}
}

// wantUnavailable checks for one sentence that says what is missing.
func wantUnavailable(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.Is(err, device.ErrUnavailable) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: error %v, want ErrUnavailable and %q", what, err, text)
	}
}

func TestNoLibrary(t *testing.T) {
	_, err := load(func(names ...string) (dl.Library, error) {
		return nil, fmt.Errorf("%s: %w", names[0], dl.ErrNotFound)
	})
	wantUnavailable(t, "no library", err, "the loader of OpenCL drivers is not installed (libOpenCL.so.1")
}

func TestMissingFunctions(t *testing.T) {
	fakeWithGPU().open(t)
	if len(fakeNames) < 25 {
		t.Fatalf("the driver asks for %d functions", len(fakeNames))
	}
	for _, name := range fakeNames {
		f := fakeWithGPU()
		f.missing = name
		_, err := f.load()
		wantUnavailable(t, name, err, name)
	}
}

func TestNoDevice(t *testing.T) {
	old, off, noCompiler := fakeGPU, fakeGPU, fakeGPU
	old.version, off.off, noCompiler.noCompiler = "OpenCL 1.1 fake", true, true
	for _, test := range []struct {
		f    *fake
		want string
	}{
		{newFake(), "the loader finds no driver"},
		{&fake{failName: "clGetPlatformIDs", failCode: platformNotFoundByICD}, "the loader finds no driver"},
		{newFake(fakePlatform{"empty", nil}), "no device"},
		{newFake(fakePlatform{"bad", []fakeDevice{old, off, noCompiler}}), "3 have not"},
	} {
		a, err := test.f.load()
		if err != nil {
			t.Fatal(err)
		}
		_, err = open(a, 0)
		wantUnavailable(t, test.want, err, test.want)
	}
	a, err := fakeWithGPU().load()
	if err != nil {
		t.Fatal(err)
	}
	for _, ordinal := range []int{-1, 1, 1000} {
		_, err := open(a, ordinal)
		wantUnavailable(t, fmt.Sprint(ordinal), err, "has 1 devices")
	}
}

// GPUs come first, then CPUs, then the rest, by the names of their drivers.
func TestOrder(t *testing.T) {
	dev := func(name string, kind uint64) fakeDevice {
		return fakeDevice{name: name, version: "OpenCL 3.0", kind: kind, memory: 1 << 20}
	}
	off := dev("off", typeGPU)
	off.off = true
	f := newFake(
		fakePlatform{"C", []fakeDevice{dev("c1", 1<<3), dev("c2", typeGPU)}},
		fakePlatform{"B", nil},
		fakePlatform{"A", []fakeDevice{off, dev("a1", typeCPU|1), dev("a2", typeGPU), dev("a3", typeGPU)}},
	)
	a, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range 5 {
		d, err := open(a, i)
		if err != nil {
			t.Fatal(err)
		}
		if d.Name() != fmt.Sprint("opencl:", i) || d.Props().Name != d.Name() {
			t.Errorf("device %d is named %q", i, d.Name())
		}
		got = append(got, d.Props().Model)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"a2 (A)", "a3 (A)", "c2 (C)", "a1 (A)", "c1 (C)"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestProps(t *testing.T) {
	p := fakeWithGPU().open(t).Props()
	if p.Architecture != "sm_90" || p.Lanes != 32 || p.SharedBytes != 32<<10 || p.BlockThreads != 256 || p.MemoryBytes != 1<<30 || p.L2Bytes != 0 || !slices.Contains(p.Features, "cl_khr_fp64") {
		t.Errorf("properties %+v", p)
	}
}

var program = &device.Program{Name: "k", Source: "source"}

// scenario does one of everything.
func scenario(f *fake) (err error) {
	a, err := f.load()
	if err != nil {
		return err
	}
	d, err := open(a, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, err := device.FromHost(d, []float32{1, 2, 3})
	if err != nil {
		return err
	}
	defer b.Close()
	c, err := device.Alloc[float32](d, 3)
	if err != nil {
		return err
	}
	defer c.Close()
	start, err := d.Stream().Record()
	if err != nil {
		return err
	}
	defer start.Close()
	if err := errors.Join(c.Zero(), c.CopyFrom(b), c.Download(make([]float32, 3))); err != nil {
		return err
	}
	k, err := d.Kernel(program)
	if err != nil {
		return err
	}
	if err := k.Launch(2, 64, 512, b.View(1, 3).Arg(), device.Value(int32(7)), device.Value(1.0)); err != nil {
		return err
	}
	if err := d.Stream().Synchronize(); err != nil {
		return err
	}
	_, err = start.Since(start)
	return err
}

// Whatever call fails, the error says so and nothing is left.
func TestEachCallFails(t *testing.T) {
	for n := 1; ; n++ {
		f := fakeWithGPU()
		f.failAt, f.failCode = n, outOfHostMemory
		err := scenario(f)
		if f.failed == "" {
			if err != nil {
				t.Errorf("with nothing failing: %v", err)
			}
			if n < 40 {
				t.Errorf("the scenario made %d calls", n-1)
			}
			return
		}
		if strings.HasPrefix(f.failed, "clRelease") {
			continue // there is nothing to do about it
		}
		if len(f.live) != 0 {
			t.Errorf("call %d, %s: %d objects are left", n, f.failed, len(f.live))
		}
		var e *device.Error
		if !errors.As(err, &e) || e.Call != f.failed || e.Name != "CL_OUT_OF_HOST_MEMORY" || !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("call %d, %s: error %v", n, f.failed, err)
		}
	}
}

// Whatever the driver calls it and whenever it notices, memory that is not there is ErrOutOfMemory.
func TestOutOfMemory(t *testing.T) {
	for _, call := range []string{"clCreateBuffer", "clEnqueueWriteBuffer"} {
		for _, code := range []status{memAllocationFailure, outOfResources, outOfHostMemory, invalidBufferSize} {
			f := fakeWithGPU()
			d := f.open(t)
			held, err := d.Alloc(1000)
			if err != nil {
				t.Fatal(err)
			}
			f.failName, f.failCode = call, code
			_, err = d.Alloc(12345)
			if !errors.Is(err, device.ErrOutOfMemory) {
				t.Errorf("%s, %d: error %v", call, code, err)
			}
			for _, s := range []string{"12345", "1000 in use", "1073741824", "268435456 at once", statusNames[code]} {
				if err == nil || !strings.Contains(err.Error(), s) {
					t.Errorf("%s, %d: error %v does not say %q", call, code, err, s)
				}
			}
			if u := d.Usage(); u != (device.Usage{Buffers: 1, Bytes: 1000}) || len(f.live) != 3 {
				t.Errorf("%s, %d: %+v in use, %d objects", call, code, u, len(f.live))
			}
			held.Close()
		}
	}
}

func TestBuildLog(t *testing.T) {
	f := fakeWithGPU()
	d := f.open(t)
	_, err := d.Kernel(&device.Program{Name: "k", Source: "a mistake"})
	if want := "opencl:0: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): kernel k: line 7: mistake"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	f.failName, f.failCode = "clGetProgramBuildInfo", outOfHostMemory
	if _, err := d.Kernel(&device.Program{Name: "k", Source: "a mistake"}); err == nil || !strings.HasSuffix(err.Error(), "kernel k: no log") {
		t.Errorf("error %v", err)
	}
	if len(f.live) != 2 {
		t.Errorf("%d objects, want context and queue", len(f.live))
	}
}

// A kernel's parameters get what the arguments say, in the order of the dialect.
func TestLaunch(t *testing.T) {
	f := fakeWithGPU()
	d := f.open(t)
	k, err := d.Kernel(program)
	if err != nil {
		t.Fatal(err)
	}
	b, err := device.Alloc[float32](d, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		k.Launch(3, 64, 512, b.View(5, 9).Arg(), device.Value(int32(-2)), device.Value(int64(1))),
		k.Launch(1, 32, 0, device.Arg{}, device.Value(float32(1)), device.Value(1.0)),
		k.Launch(0, 32, 0, device.Arg{}, device.Value(float32(1)), device.Value(1.0)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"192 of 64: buffer of 400, 0500000000000000, feffffff, 0100000000000000, 512 bytes",
		"32 of 32: no buffer, 0000000000000000, 0000803f, 000000000000f03f, 16 bytes",
	}
	if !slices.Equal(f.launches, want) {
		t.Errorf("launched %q, want %q", f.launches, want)
	}
	// The compiler does not tell the size of its last number: the driver does when it is set.
	if err := k.Launch(1, 32, 0, device.Arg{}, device.Value(int32(1)), device.Value(int32(1))); err == nil || !strings.Contains(err.Error(), "CL_INVALID_ARG_SIZE (-51): kernel k: parameter 4 of 5") {
		t.Errorf("error %v", err)
	}
	for want, args := range map[string][]device.Arg{
		"argument 1 of 1 is a number of 4 bytes; the kernel takes a buffer": {device.Value(int32(1))},
		"argument 2 of 2 is a buffer; the kernel takes a number of 4 bytes": {b.Arg(), b.Arg()},
		"argument 4 of 4 is a buffer, and the kernel takes no more than 3":  {b.Arg(), device.Value(int32(1)), device.Value(1.0), b.Arg()},
		"1 arguments are too few; the next is a number of 4 bytes":          {b.Arg()},
		"2 arguments are too few; the next is a number":                     {b.Arg(), device.Value(int32(1))},
	} {
		if err := k.Launch(1, 32, 0, args...); err == nil || err.Error() != "opencl:0: Launch: kernel k: "+want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := k.Launch(1, 32, 32<<10-1024+1, device.Arg{}, device.Value(int32(1)), device.Value(1.0)); err == nil || !strings.Contains(err.Error(), "31745 bytes of dynamic shared memory beside 1024; the device has 32768") {
		t.Errorf("error %v", err)
	}
	if again, err := d.Kernel(program); err != nil || again != k {
		t.Errorf("asked again: another kernel, %v", err)
	}
	info, err := k.Info()
	if want := (device.KernelInfo{Threads: 256, Local: 8, Shared: 1024}); err != nil || info != want {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestEvents(t *testing.T) {
	f := fakeWithGPU()
	d := f.open(t)
	first, err := d.Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	if took, err := second.Since(first); err != nil || took.Nanoseconds() != 1000 {
		t.Errorf("took %v, %v, want 1 µs", took, err)
	}
	foreign, err := fakeWithGPU().open(t).Stream().Record()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Since(foreign); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("an event of another device: %v", err)
	}
	for range 2 {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := second.Since(first); !errors.Is(err, device.ErrClosed) {
		t.Errorf("a closed event: %v", err)
	}
}
