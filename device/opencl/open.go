package opencl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/dl"
)

// Parameters of clGetPlatformInfo and clGetDeviceInfo, and device types, with the names of CL/cl.h.
const (
	platformName = 0x0902

	deviceType                 = 0x1000
	deviceMaxComputeUnits      = 0x1002
	deviceMaxWorkGroupSize     = 0x1004
	deviceSingleFPConfig       = 0x101b
	deviceGlobalMemCachelineSz = 0x101d
	deviceGlobalMemCacheSize   = 0x101e
	deviceGlobalMemSize        = 0x101f
	deviceMaxMemAllocSize      = 0x1010
	deviceLocalMemSize         = 0x1023
	deviceAvailable            = 0x1027
	deviceCompilerAvailable    = 0x1028
	deviceName                 = 0x102b
	deviceVersion              = 0x102f
	deviceExtensions           = 0x1030
	deviceCCMajorNV            = 0x4000 // cl_nv_device_attribute_query
	deviceCCMinorNV            = 0x4001
	deviceWarpSizeNV           = 0x4003
	deviceWavefrontWidthAMD    = 0x4043 // cl_amd_device_attribute_query

	typeCPU = 1 << 1
	typeGPU = 1 << 2
	typeAll = 0xffffffff

	fpCorrectlyRounded = 1 << 7 // CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
)

// found is a device of the machine.
type found struct {
	platform, device uintptr
	platformName     string
	kind             uint64 // cl_device_type
}

// system returns the functions of this machine's OpenCL.
var system = sync.OnceValues(func() (*api, error) { return load(dl.Open) })

// Count returns the number of devices that Open can open, 0 without OpenCL.
func Count() int {
	a, err := system()
	if err != nil {
		return 0
	}
	all, err := a.devices()
	if err != nil {
		return 0
	}
	return len(all)
}

// Open opens device number ordinal, from 0, of all devices of all drivers: GPUs, then CPUs, then others, each
// by the names of their drivers. Devices without a compiler or OpenCL 1.2 do not count. An error wraps
// device.ErrUnavailable where there is no such device. The caller closes the device; opened again, it is
// another device.
func Open(ordinal int) (*Device, error) {
	a, err := system()
	if err != nil {
		return nil, err
	}
	return open(a, ordinal)
}

func open(a *api, ordinal int) (*Device, error) {
	name := fmt.Sprint("opencl:", ordinal)
	all, err := a.devices()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= len(all) {
		return nil, fmt.Errorf("%s: %w: OpenCL has %d devices here, numbered from 0", name, device.ErrUnavailable, len(all))
	}
	return newDevice(a, all[ordinal], name)
}

// devices returns the usable devices in the order of Open, at least one.
func (a *api) devices() ([]found, error) {
	var n uint32
	if s := a.call(a.getPlatformIDs, 0, 0, uintptr(unsafe.Pointer(&n))); s == platformNotFoundByICD || s == success && n == 0 {
		return nil, fmt.Errorf("OpenCL: %w: the loader finds no driver; install one, such as PoCL (package pocl-opencl-icd)", device.ErrUnavailable)
	} else if s != success {
		return nil, s.error("opencl", a.getPlatformIDs, "")
	}
	platforms := make([]uintptr, n)
	if s := a.call(a.getPlatformIDs, uintptr(n), uintptr(unsafe.Pointer(&platforms[0])), 0); s != success {
		return nil, s.error("opencl", a.getPlatformIDs, "")
	}
	var all []found
	unusable := 0
	for _, p := range platforms {
		platform, err := a.text(a.getPlatformInfo, "opencl", p, platformName)
		if err != nil {
			return nil, err
		}
		ids, err := a.deviceIDs(p)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			f := found{platform: p, device: id, platformName: platform}
			ok, err := a.usable(id)
			if err == nil {
				f.kind, err = a.number(a.getDeviceInfo, "opencl", id, deviceType)
			}
			if err != nil {
				return nil, err
			}
			if !ok {
				unusable++
				continue
			}
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("OpenCL: %w: the drivers (%d) have no device with a compiler and OpenCL 1.2; %d have not",
			device.ErrUnavailable, len(platforms), unusable)
	}
	rank := func(f found) int {
		switch {
		case f.kind&typeGPU != 0:
			return 0
		case f.kind&typeCPU != 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(x, y found) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), strings.Compare(x.platformName, y.platformName))
	})
	return all, nil
}

func (a *api) deviceIDs(platform uintptr) ([]uintptr, error) {
	var n uint32
	if s := a.call(a.getDeviceIDs, platform, typeAll, 0, 0, uintptr(unsafe.Pointer(&n))); s == deviceNotFound || s == success && n == 0 {
		return nil, nil
	} else if s != success {
		return nil, s.error("opencl", a.getDeviceIDs, "")
	}
	ids := make([]uintptr, n)
	s := a.call(a.getDeviceIDs, platform, typeAll, uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)
	return ids, s.error("opencl", a.getDeviceIDs, "")
}

// usable reports whether a device can run the dialect.
func (a *api) usable(id uintptr) (bool, error) {
	for _, param := range []uintptr{deviceAvailable, deviceCompilerAvailable} {
		if yes, err := a.number(a.getDeviceInfo, "opencl", id, param); err != nil || yes == 0 {
			return false, err
		}
	}
	version, err := a.text(a.getDeviceInfo, "opencl", id, deviceVersion)
	if err != nil {
		return false, err
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "OpenCL %d.%d", &major, &minor); err != nil {
		return false, nil
	}
	return major > 1 || major == 1 && minor >= 2, nil
}

// number returns an integer of 32 or 64 bits that a query on an object gives.
func (a *api) number(query function, on string, object, param uintptr) (uint64, error) {
	var value uint64 // a shorter one leaves the upper bits zero, all machines here being little-endian
	s := a.call(query, object, param, unsafe.Sizeof(value), uintptr(unsafe.Pointer(&value)), 0)
	return value, s.error(on, query, fmt.Sprintf("parameter %#x", param))
}

// text returns a string that a query on an object gives.
func (a *api) text(query function, on string, object, param uintptr) (string, error) {
	var size uintptr
	if s := a.call(query, object, param, 0, 0, uintptr(unsafe.Pointer(&size))); s != success || size == 0 {
		return "", s.error(on, query, fmt.Sprintf("parameter %#x", param))
	}
	raw := make([]byte, size)
	s := a.call(query, object, param, size, uintptr(unsafe.Pointer(&raw[0])), 0)
	return goString(raw), s.error(on, query, fmt.Sprintf("parameter %#x", param))
}

// goString returns the text before the first zero byte.
func goString(raw []byte) string {
	text, _, _ := strings.Cut(string(raw), "\x00")
	return strings.TrimSpace(text)
}

func cString(s string) []byte { return append([]byte(s), 0) }
