package pattern

import (
	"fmt"
	"math"

	"sddmmkit/device"
	"sddmmkit/internal/remember"
	"sddmmkit/pattern/kernels"
)

// usableL2 returns how many bytes of a CUDA device's L2 hold rows that are gathered, or 0 where nobody knows. It is
// measured by the first pattern on a machine that asks, and kept in the user's cache folder as what CPUs were measured
// to do is; where there is no such folder it is not measured, for each pattern would.
func usableL2(dev device.Launcher) int64 {
	p := dev.Props()
	if dev.Kind() != device.CUDA || p.L2Bytes < 1<<20 {
		return 0
	}
	key := fmt.Sprintf("%s %s, %d units, L2 of %d bytes", p.Architecture, p.Model, p.Units, p.L2Bytes)
	if d, ok := dev.(interface{ DriverVersion() string }); ok {
		key += ", driver for CUDA " + d.DriverVersion()
	}
	const version = 1
	store := remember.NewStore[int64]("l2", key, version)
	if bytes, ok := store.Load(); ok && bytes > 0 && bytes <= p.L2Bytes {
		return bytes
	}
	if store.Path == "" {
		return 0
	}
	bytes, err := measureL2(dev, p.L2Bytes)
	if err != nil {
		return 0 // planning goes on with what the data sheet says
	}
	store.Save(bytes)
	return bytes
}

// How measureL2 measures.
const (
	l2Least, l2Most, l2Steps = 4, 20, 16 // sets of so many sixteenths of L2
	l2Share                  = 0.85      // of the rate from the least set, at which L2 is full
	l2Samples                = 3         // of each set, the fastest counting
	l2Blocks                 = 32        // for each unit of the device
)

// measureL2 returns the size of the working set from which random rows come at l2Share of the rate at which they come from
// a set that L2 certainly holds. It reads some 70 GB, at most 0.02 s on an H200.
func measureL2(dev device.Launcher, nominal int64) (bytes int64, err error) {
	p := &planner{dev: dev}
	var s scratch
	defer func() { s.close(&err) }()
	data, err := temporary[uint32](dev, &s, nominal/l2Steps*l2Most/4)
	if err != nil {
		return 0, err
	}
	if err := data.Zero(); err != nil {
		return 0, err
	}
	found, err := temporary[int32](dev, &s, 1)
	if err != nil {
		return 0, err
	}
	var rates []float64
	for n := l2Least; n <= l2Most; n++ {
		r, err := p.probe(data, found, nominal/l2Steps*int64(n))
		if err != nil {
			return 0, err
		}
		rates = append(rates, r)
	}
	return l2Knee(rates, nominal), nil
}

// l2Knee returns the bytes at which rates, those of the sets from l2Least to l2Most, fall below l2Share of the first: on a
// straight line between two sets, no more than nominal, and rounded to a 32nd of that, so that a little noise changes no plan.
func l2Knee(rates []float64, nominal int64) int64 {
	full := l2Share * rates[0]
	for n := 1; n < len(rates); n++ {
		if rates[n] < full {
			at := l2Least + float64(n) - (full-rates[n])/max(rates[n-1]-rates[n], full-rates[n])
			return min(int64(math.Round(at*2))*(nominal/l2Steps/2), nominal)
		}
	}
	return nominal
}

// probe returns the rows a second that come from the first bytes of data.
func (p *planner) probe(data *device.Buffer[uint32], found *device.Buffer[int32], bytes int64) (rate float64, err error) {
	blocks := int64(l2Blocks * max(p.dev.Props().Units, 1))
	least := math.Inf(1)
	for sample := range l2Samples + 1 {
		launch := func() error {
			return p.launchBlocks(kernels.Probe(), blocks, device.Value(int32(bytes/kernels.ProbeRow)), device.Value(int32(sample)), data.Arg(), found.Arg())
		}
		if sample == 0 { // which brings the set into L2
			if err := launch(); err != nil {
				return 0, err
			}
			continue
		}
		took, err := device.Time(p.dev.Stream(), launch)
		if err != nil {
			return 0, err
		}
		least = min(least, took.Seconds())
	}
	return float64(blocks) / least, nil
}
