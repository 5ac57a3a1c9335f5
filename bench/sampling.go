package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"sddmmkit/device"
)

// Sampling says how long a case is measured. Zero fields have defaults.
type Sampling struct {
	Warmups int     // calls before the first sample, at least; 2
	Samples int     // at least so many; 10
	Seconds float64 // and at least so many seconds of them; 0.5
	Limit   float64 // seconds after which no warm-up or sample begins, but for one and three; 20 × Seconds

	warm   float64 // seconds of warm-ups at least
	sample float64 // seconds that a sample takes at least, where calls are short; sampleSeconds
}

func (s Sampling) withDefaults() (Sampling, error) {
	if s.Warmups == 0 {
		s.Warmups = 2
	}
	if s.Samples == 0 {
		s.Samples = 10
	}
	if s.Seconds == 0 {
		s.Seconds = 0.5
	}
	if s.Limit == 0 {
		s.Limit = 20 * s.Seconds
	}
	s.sample = cmp.Or(s.sample, sampleSeconds)
	if s.Warmups < 1 || s.Samples < 1 || !(s.Seconds > 0 && s.Seconds <= 1e6) || !(s.Limit > 0) {
		return s, fmt.Errorf("bench: %d warm-ups, %d samples, %v seconds, at most %v; want positive numbers, or 0 for a default", s.Warmups, s.Samples, s.Seconds, s.Limit)
	}
	return s, nil
}

const (
	sampleSeconds = 2e-3
	maxSamples    = 1 << 16
)

// timer tells how long a function takes, in seconds.
type timer interface {
	time(f func() error) (float64, error)
	name() string
}

// newTimer returns the way to take time on a device: events where it has a queue of its own, the
// clock of the host where a call has finished when it returns.
func newTimer(dev device.Device) timer {
	if _, ok := dev.(device.Host); ok {
		return hostTimer{dev.Stream()}
	}
	return eventTimer{dev.Stream()}
}

// hostTimer reads the clock of the host.
type hostTimer struct {
	stream interface{ Synchronize() error }
}

func (t hostTimer) name() string { return "host" }

func (t hostTimer) time(f func() error) (float64, error) {
	start := time.Now()
	if err := f(); err != nil {
		return 0, err
	}
	err := t.stream.Synchronize()
	return time.Since(start).Seconds(), err
}

// eventTimer asks the device.
type eventTimer struct{ stream device.Stream }

func (t eventTimer) name() string { return "device events" }

func (t eventTimer) time(f func() error) (float64, error) {
	took, err := device.Time(t.stream, f)
	return took.Seconds(), err
}

// timed is what sampling gives.
type timed struct {
	samples []float64 // seconds per call
	calls   int       // per sample
	warmups int       // calls before
}

// take warms up, and then takes samples of call.
func (s Sampling) take(ctx context.Context, t timer, call func() error) (timed, error) {
	once, spent := math.Inf(1), 0.0
	out := timed{calls: 1}
	for (out.warmups < s.Warmups || spent < s.warm) && spent < s.Limit {
		took, err := t.time(call)
		if err != nil {
			return timed{}, err
		}
		if err := ctx.Err(); err != nil {
			return timed{}, err
		}
		once, spent = min(once, took), spent+took
		out.warmups++
	}
	if once < s.sample {
		out.calls = int(math.Ceil(s.sample / max(once, 1e-9)))
	}
	total := 0.0
	for n := 0; n < maxSamples && (n < s.Samples || total < s.Seconds) && (n < 3 || total < s.Limit); n++ {
		took, err := t.time(func() error {
			for range out.calls {
				if err := call(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return timed{}, err
		}
		if err := ctx.Err(); err != nil {
			return timed{}, err
		}
		if !(took > 0) {
			return timed{}, fmt.Errorf("bench: %d calls took %v seconds by the %s clock; its resolution is too coarse", out.calls, took, t.name())
		}
		out.samples = append(out.samples, took/float64(out.calls))
		total += took
	}
	return out, nil
}
