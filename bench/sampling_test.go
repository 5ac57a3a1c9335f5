package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"sddmmkit/device"
)

// clock is a timer whose time passes only when it is told to: step seconds per call, or what the
// next of steps says.
type clock struct {
	step  float64
	steps []float64
	calls int
	now   float64
}

func (c *clock) name() string { return "fake" }

func (c *clock) time(f func() error) (float64, error) {
	start := c.now
	err := f()
	if c.step > 0 && c.now == start { // f did not call tick
		c.now += c.step
	}
	return c.now - start, err
}

// tick is an operation on the clock.
func (c *clock) tick() error {
	if c.calls < len(c.steps) {
		c.now += c.steps[c.calls]
	} else {
		c.now += c.step
	}
	c.calls++
	return nil
}

func TestTake(t *testing.T) {
	for _, c := range []struct {
		name     string
		clock    clock
		sampling Sampling
		samples  []float64
		calls    int
		warmups  int
	}{
		{"enough samples", clock{step: 1}, Sampling{Warmups: 2, Samples: 4, Seconds: 0.5, Limit: 100}, []float64{1, 1, 1, 1}, 1, 2},
		{"enough seconds", clock{step: 1}, Sampling{Warmups: 2, Samples: 3, Seconds: 5, Limit: 100}, []float64{1, 1, 1, 1, 1}, 1, 2},
		{"the limit", clock{step: 1}, Sampling{Warmups: 2, Samples: 50, Seconds: 1, Limit: 6}, []float64{1, 1, 1, 1, 1, 1}, 1, 2},
		{"three at least", clock{step: 9}, Sampling{Warmups: 2, Samples: 50, Seconds: 1, Limit: 6}, []float64{9, 9, 9}, 1, 1},
		{"several calls a sample", clock{step: 1.0 / 2048}, Sampling{Warmups: 2, Samples: 3, Seconds: 1e-3, Limit: 1}, []float64{1.0 / 2048, 1.0 / 2048, 1.0 / 2048}, 5, 2},
		{"each its own time", clock{steps: []float64{7, 7, 3, 1, 2}}, Sampling{Warmups: 2, Samples: 3, Seconds: 1, Limit: 100}, []float64{3, 1, 2}, 1, 2},
		{"a slow first call", clock{steps: []float64{4, 1.0 / 1024}, step: 1.0 / 1024}, Sampling{Warmups: 2, Samples: 3, Seconds: 1e-3, Limit: 100}, []float64{1.0 / 1024, 1.0 / 1024, 1.0 / 1024}, 3, 2},
	} {
		c.sampling.sample = sampleSeconds
		got, err := c.sampling.take(context.Background(), &c.clock, c.clock.tick)
		if err != nil || !slices.Equal(got.samples, c.samples) || got.calls != c.calls || got.warmups != c.warmups {
			t.Errorf("%s: %+v, %v; want samples %v of %d calls after %d warm-ups", c.name, got, err, c.samples, c.calls, c.warmups)
		}
		if want := c.warmups + c.calls*len(c.samples); c.clock.calls != want {
			t.Errorf("%s: %d calls, want %d", c.name, c.clock.calls, want)
		}
	}
}

func TestTakeEnds(t *testing.T) {
	s := Sampling{Warmups: 1, Samples: 1000, Seconds: 1e9, Limit: 1e9}
	ctx, cancel := context.WithCancel(context.Background())
	c := &clock{step: 1}
	_, err := s.take(ctx, c, func() error {
		if c.calls == 5 {
			cancel()
		}
		return c.tick()
	})
	if !errors.Is(err, context.Canceled) || c.calls != 6 {
		t.Errorf("error %v after %d calls, want it at once", err, c.calls)
	}
	if _, err := s.take(context.Background(), &clock{}, func() error { return nil }); err == nil {
		t.Error("a clock that stands still gives samples")
	}
}

func TestSamplingDefaults(t *testing.T) {
	got, err := Sampling{}.withDefaults()
	if want := (Sampling{Warmups: 2, Samples: 10, Seconds: 0.5, Limit: 10, sample: sampleSeconds}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// stream is a queue whose events are a fixed time apart.
type stream struct {
	device.Stream
	recorded, closed int
}

type event struct {
	s *stream
	n int
}

func (s *stream) Record() (device.Event, error) {
	s.recorded++
	return &event{s, s.recorded}, nil
}

func (e *event) Since(earlier device.Event) (time.Duration, error) {
	return time.Duration(e.n-earlier.(*event).n) * time.Second, nil
}

func (e *event) Close() error { e.s.closed++; return nil }

func TestEventTimer(t *testing.T) {
	s := &stream{}
	timer := eventTimer{s}
	took, err := timer.time(func() error { s.recorded += 2; return nil })
	if err != nil || took != 3 || s.closed != 2 {
		t.Errorf("%v seconds, %v, %d events closed; want 3 seconds by two events", took, err, s.closed)
	}
	broken := errors.New("broken")
	if _, err := timer.time(func() error { return broken }); err != broken || s.closed != 3 {
		t.Errorf("error %v, %d events closed", err, s.closed)
	}
}
