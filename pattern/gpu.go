package pattern

import (
	"errors"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern/kernels"
)

// leastOnGPU is the number of non-zeros from which on a GPU plans for itself: below it the host is done before the GPU has
// begun. Tests set it to 0.
var leastOnGPU int64 = 1 << 16

// planner plans on a GPU. What its methods return is there when the device's stream gets to it, and is the caller's.
type planner struct {
	dev    device.Launcher
	loaded dialect.Kernels
}

// planner returns what plans on the pattern's device with need bytes of memory beside the pattern, or nil where the host plans: on
// CPUs, for small patterns, with too little memory, and on GPUs that the kernels are not made for.
func (r *Resident) planner(need int64) (*planner, error) {
	dev, ok := r.dev.(device.Launcher)
	if !ok || r.NNZ < leastOnGPU {
		return nil, nil
	}
	if all := dev.Props().MemoryBytes; all > 0 && need > all-dev.Usage().Bytes {
		return nil, nil
	}
	if r.plans == nil {
		p := &planner{dev: dev}
		if _, err := p.loaded.Load(dev, kernels.Starts()); errors.Is(err, device.ErrUnsupported) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		r.plans = p
	}
	return r.plans, nil
}

// launch puts a kernel on the stream, with a thread for each of n things.
func (p *planner) launch(v *dialect.Variant, n int64, args ...device.Arg) error {
	return p.launchBlocks(v, dialect.Blocks(n, kernels.Threads), args...)
}

func (p *planner) launchBlocks(v *dialect.Variant, blocks int64, args ...device.Arg) error {
	kernel, err := p.loaded.Load(p.dev, v)
	if err != nil {
		return err
	}
	return kernel.Launch(blocks, kernels.Threads, 0, args...)
}

// scratch are buffers that are closed together.
type scratch []interface{ Close() error }

// temporary makes a buffer of n elements among the scratch.
func temporary[T device.Elem](dev device.Device, s *scratch, n int64) (*device.Buffer[T], error) {
	b, err := device.Alloc[T](dev, n)
	if err == nil {
		*s = append(*s, b)
	}
	return b, err
}

// close frees the buffers. What goes wrong is added to *err.
func (s scratch) close(err *error) {
	for _, b := range s {
		*err = errors.Join(*err, b.Close())
	}
}
