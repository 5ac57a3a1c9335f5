package backend

import (
	"fmt"
	"strings"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

// Options say how to open a device.
type Options struct {
	Threads int // worker threads of the CPU; 0 means all usable CPUs
}

// Open opens a device:
//
//	"auto"  the best device there is
//	"cpu"   the host's processor
//
// The caller closes it. An unknown name, or a device that this machine or build lacks, is an error
// that wraps device.ErrUnavailable.
func Open(name string, opt Options) (device.Device, error) {
	switch name {
	case "", "auto", "cpu":
		return cpu.New(opt.Threads), nil
	}
	return nil, fmt.Errorf("device %q: %w: this build has: %s", name, device.ErrUnavailable, strings.Join(Names(), ", "))
}

// Names lists the devices that Open can open on this machine, the best first.
func Names() []string { return []string{"cpu"} }
