package backend

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/device/opencl"
)

// Options say how to open a device.
type Options struct {
	Threads int // worker threads of the CPU; 0 means all usable CPUs
}

// driver opens devices that are numbered from 0.
type driver struct {
	kind  device.Kind
	count func() int
	open  func(ordinal int) (device.Device, error)
}

// drivers are all but the CPU's.
var drivers = []driver{
	{device.OpenCL, opencl.Count, func(n int) (device.Device, error) { return opened(opencl.Open(n)) }},
}

// opened keeps a missing device from being an interface that is not nil.
func opened[D device.Device](d D, err error) (device.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Open opens a device:
//
//	"auto"      the best device there is
//	"cpu"       the host's processor
//	"opencl:1"  number 1 of the OpenCL devices, from 0; "opencl" is the first
//
// The caller closes it. An unknown name, or a device that this machine lacks, is an error that wraps
// device.ErrUnavailable.
func Open(name string, opt Options) (device.Device, error) {
	switch name {
	case "", "auto", "cpu":
		return cpu.New(opt.Threads), nil
	}
	kind, number, numbered := strings.Cut(name, ":")
	if !numbered {
		number = "0"
	}
	for _, d := range drivers {
		n, err := strconv.ParseUint(number, 10, 31)
		if kind != string(d.kind) || err != nil {
			continue
		}
		dev, err := d.open(int(n))
		if errors.Is(err, device.ErrUnavailable) {
			err = fmt.Errorf("device %q: %w; this machine has: %s", name, err, strings.Join(Names(), ", "))
		}
		return dev, err
	}
	return nil, fmt.Errorf("device %q: %w: this machine has: %s", name, device.ErrUnavailable, strings.Join(Names(), ", "))
}

// Names lists the devices that Open can open on this machine, the best first.
func Names() []string {
	names := []string{"cpu"}
	for _, d := range drivers {
		for n := range d.count() {
			names = append(names, fmt.Sprintf("%s:%d", d.kind, n))
		}
	}
	return names
}
