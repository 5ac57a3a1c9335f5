package backend

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/device/cuda"
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
	{device.CUDA, counted(cuda.Count), func(n int) (device.Device, error) { return opened(cuda.Open(n)) }},
	{device.OpenCL, opencl.Count, func(n int) (device.Device, error) { return opened(opencl.Open(n)) }},
}

// automatic are the devices that "auto" tries, one after the other.
var automatic = []string{"cuda:0", "cpu"}

// counted takes a driver that cannot tell for one without devices.
func counted(count func() (int, error)) func() int {
	return func() int {
		n, err := count()
		if err != nil {
			return 0
		}
		return n
	}
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
//	"auto"      the first of NVIDIA's GPUs where there is one that works, else the CPU
//	"cpu"       the host's processor
//	"cuda:1"    number 1 of NVIDIA's GPUs, from 0; "cuda" is the first
//	"opencl:1"  number 1 of the OpenCL devices, from 0; "opencl" is the first
//
// The caller closes it. An unknown name, or a device that this machine lacks, is an error that wraps
// device.ErrUnavailable.
func Open(name string, opt Options) (device.Device, error) {
	switch name {
	case "", "auto":
		return openFirst(automatic, opt)
	case "cpu":
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

// openFirst opens the first of names that opens.
func openFirst(names []string, opt Options) (dev device.Device, err error) {
	for _, name := range names {
		if dev, err = Open(name, opt); err == nil {
			return dev, nil
		}
	}
	return nil, err
}

// Names lists the devices of this machine, the CPU first.
func Names() []string {
	names := []string{"cpu"}
	for _, d := range drivers {
		for n := range d.count() {
			names = append(names, fmt.Sprintf("%s:%d", d.kind, n))
		}
	}
	return names
}
