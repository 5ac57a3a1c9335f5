package device_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

// compiler is a device of a kind that says which kernels it is asked for.
type compiler struct {
	device.Device
	kind  device.Kind
	asked chan string
}

func (c *compiler) Kind() device.Kind { return c.kind }

func (c *compiler) Kernel(p *device.Program) (device.Kernel, error) {
	c.asked <- p.Name
	return nil, errors.New("no compiler")
}

// Every program is compiled once, without the caller waiting, and only where that pays.
func TestPrepare(t *testing.T) {
	var all []*device.Program
	var want []string
	for n := range 100 {
		name := fmt.Sprintf("k%02d", n)
		all, want = append(all, &device.Program{Name: name}, &device.Program{Name: name}), append(want, name)
	}
	c := &compiler{Device: cpu.New(1), kind: device.CUDA, asked: make(chan string)}
	device.Prepare(c, all...)
	var got []string
	for range want {
		got = append(got, <-c.asked)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("asked for %q", got)
	}
	other := &compiler{Device: cpu.New(1), kind: device.OpenCL} // who is asked waits for good
	device.Prepare(other, all...)
	device.Prepare(cpu.New(1), all...)
}
