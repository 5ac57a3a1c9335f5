package dialect

import (
	"sync"

	"sddmmkit/device"
)

// once are variants by what Once was given.
var once sync.Map

// Once returns the variant that make makes for key, the same each time; nobody may change it. To put one together takes 2 µs, as long
// as a launch. Keys of different packages have types of their own.
func Once[K comparable](key K, make func() *Variant) *Variant {
	if v, ok := once.Load(key); ok {
		return v.(*Variant)
	}
	v, _ := once.LoadOrStore(key, make())
	return v.(*Variant)
}

// Kernels keeps the kernels that a plan has launched on its device, by name, so that the device, which locks, is asked for each of
// them once. The zero value is empty. It is not safe for concurrent use.
type Kernels struct{ loaded map[string]device.Kernel }

// Load returns a variant's kernel on dev, always the same device.
func (k *Kernels) Load(dev device.Launcher, v *Variant) (device.Kernel, error) {
	if kernel, ok := k.loaded[v.Name]; ok {
		return kernel, nil
	}
	kernel, err := v.Load(dev)
	if err != nil {
		return nil, err
	}
	if k.loaded == nil {
		k.loaded = map[string]device.Kernel{}
	}
	k.loaded[v.Name] = kernel
	return kernel, nil
}

// Programs returns variants for device.Prepare, but for those without a source: they fail when they are loaded.
func Programs(variants ...*Variant) []*device.Program {
	var all []*device.Program
	for _, v := range variants {
		if p, err := v.Program(); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// Load returns the kernel on a device.
func (v *Variant) Load(dev device.Launcher) (device.Kernel, error) {
	program, err := v.Program()
	if err != nil {
		return nil, err
	}
	return dev.Kernel(program)
}

// Blocks returns the number of blocks that do n things, each at a time.
func Blocks(n, each int64) int64 { return (n + each - 1) / each }
