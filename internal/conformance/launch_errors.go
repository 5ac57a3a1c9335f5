package conformance

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/conformance/kernels"
	"sddmmkit/internal/dialect"
)

// stillWorks checks that a launch gives the right result after something went wrong.
func stillWorks(t *testing.T, what string, dev device.Launcher) {
	t.Helper()
	y := between(t, dev, 1, make([]int32, 3))
	must(t, compile(t, dev, kernels.Fill).Launch(1, kernels.Threads, 0, y.Arg(), device.Value(int64(3)), device.Value(int32(5))))
	if got := y.read(t, what); !slices.Equal(got, []int32{5, 5, 5}) {
		t.Fatalf("after %s the device fills with %v", what, got)
	}
}

func launchWrongArguments(t *testing.T, dev device.Launcher) {
	fill := compile(t, dev, kernels.Fill) // takes a buffer, an int64 and an int32
	y := between(t, dev, 1, make([]int32, 3))
	n, value := device.Value(int64(3)), device.Value(int32(1))
	wrong := map[string][]device.Arg{
		"none":                    {},
		"one too few":             {y.Arg(), n},
		"one too many":            {y.Arg(), n, value, value},
		"a buffer too many":       {y.Arg(), n, value, y.Arg()},
		"4 bytes for 8":           {y.Arg(), device.Value(int32(3)), value},
		"8 bytes for 4":           {y.Arg(), n, device.Value(int64(1))},
		"a number for the buffer": {n, n, value},
		"a buffer for a number":   {y.Arg(), n, y.Arg()},
		"in another order":        {n, y.Arg(), value},
	}
	if dev.Kind() == device.CUDA {
		delete(wrong, "in another order") // PTX tells the sizes of parameters, and these are the same
	}
	for what, args := range wrong {
		wantDevice(t, what, dev, fill.Launch(1, kernels.Threads, 0, args...), kernels.Fill.Name)
		stillWorks(t, "arguments: "+what, dev)
	}
	// A grid of 0 blocks does nothing, but it is no excuse.
	wantDevice(t, "no arguments for no blocks", dev, fill.Launch(0, kernels.Threads, 0), kernels.Fill.Name)
	mirror := compile(t, dev, kernels.Mirror) // takes two buffers, an int32 and shared memory
	x := between(t, dev, 1, make([]float32, kernels.Threads))
	wantDevice(t, "a number too many before shared memory", dev,
		mirror.Launch(1, kernels.Threads, 1024, x.Arg(), x.Arg(), device.Value(int32(0)), device.Value(int32(0))), kernels.Mirror.Name)
	if got := y.read(t, "refused"); !slices.Equal(got, make([]int32, 3)) {
		t.Errorf("refused launches wrote %v", got)
	}
}

func launchWrongSizes(t *testing.T, dev device.Launcher) {
	fill := compile(t, dev, kernels.Fill)
	y := between(t, dev, 1, make([]int32, 3))
	for _, size := range []struct {
		grid  int64
		block int
	}{{-1, kernels.Threads}, {1, 0}, {1, -1}, {1, 2 * kernels.Threads}, {1, 1 << 20}, {1 << 62, kernels.Threads}} {
		what := fmt.Sprintf("%d blocks of %d threads", size.grid, size.block)
		wantDevice(t, what, dev, fill.Launch(size.grid, size.block, 0, y.Arg(), device.Value(int64(3)), device.Value(int32(1))), kernels.Fill.Name)
		stillWorks(t, what, dev)
	}
	if got := y.read(t, "refused"); !slices.Equal(got, make([]int32, 3)) {
		t.Errorf("refused launches wrote %v", got)
	}
}

func launchWrongBuffers(t *testing.T, dev device.Launcher, other device.Device) {
	fill := compile(t, dev, kernels.Fill)
	n, value := device.Value(int64(3)), device.Value(int32(1))
	closed, err := device.Alloc[int32](dev, 3)
	must(t, err)
	must(t, closed.Close())
	wantIs(t, "a closed buffer", fill.Launch(1, kernels.Threads, 0, closed.Arg(), n, value), device.ErrClosed)
	stillWorks(t, "a closed buffer", dev)

	far := between(t, other, 0, make([]int32, 3))
	var m *device.MismatchError
	if err := fill.Launch(1, kernels.Threads, 0, far.Arg(), n, value); !errors.As(err, &m) {
		t.Errorf("a buffer of another device: error %v (%T), want a *MismatchError", err, err)
	}
	stillWorks(t, "a buffer of another device", dev)
}

func launchWrongPrograms(t *testing.T, dev device.Launcher) {
	const body = "\nKERNEL(64, test_wrong)(OUT(int, y)) { AT_OUT(int, y); y[0] = undeclared_name; }\n"
	const ptx = ".version 8.0\n.target sm_60\n.address_size 64\n.visible .entry test_wrong() { undeclared_name; ret; }\n"
	wrong := &device.Program{Name: "test_wrong", Source: dialect.Header + body, PTX: func(int) ([]byte, error) { return []byte(ptx), nil }}
	_, err := dev.Kernel(wrong)
	wantDevice(t, "a program that does not compile", dev, err, "test_wrong", "undeclared_name")
	stillWorks(t, "a program that does not compile", dev)

	other := program(t, kernels.Step)
	other.Name = "test_nameless"
	_, err = dev.Kernel(other)
	wantDevice(t, "a program without the kernel", dev, err, "test_nameless")
	stillWorks(t, "a program without the kernel", dev)

	// The same kernel, asked for again, works as well.
	for range 2 {
		stillWorks(t, "asking again", dev)
	}
}
