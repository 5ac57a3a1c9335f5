package device_test

import (
	"math"
	"testing"

	"sddmmkit/device"
)

// measured is a machine of four threads, whose cache delivers a row of 100 bytes in 1 s and one of 300 in 2 s to
// one thread, and takes twice as long for all four; pages beyond 1000 bytes add 3 s to each row.
func measured() device.Measured {
	rate := func(row int, seconds float64) device.Rate {
		return device.Rate{RowBytes: row, One: float64(row) / seconds, All: float64(row) * 4 / (2 * seconds)}
	}
	m := device.Measured{Threads: 4, Reach: 1000, Levels: []device.Level{
		{Name: "L2", Bytes: 1 << 20, Gather: []device.Rate{rate(100, 1), rate(300, 2)}, Spread: []device.Rate{rate(100, 4), rate(300, 5)}, Stream: rate(100, 1)},
		{Name: "memory", Shared: true, Gather: []device.Rate{rate(100, 10)}, Stream: rate(200, 10)},
	}}
	return m
}

func TestGatherSeconds(t *testing.T) {
	m := measured()
	if !m.Valid() {
		t.Fatal("not valid")
	}
	for _, test := range []struct {
		level   int
		row     float64
		threads int
		want    float64
	}{
		{0, 100, 1, 1}, {0, 300, 1, 2}, {0, 200, 1, 1.5}, {0, 500, 1, 3}, // on a line through both
		{0, 50, 1, 0.64}, {0, 80, 1, 0.8}, // a short row takes its share, but no less than a line does
		{0, 100, 4, 2}, {0, 100, 2, 4.0 / 3}, {0, 100, 99, 2 + 95.0/3}, {0, 100, 0, 1},
		{1, 100, 1, 10}, {1, 500, 1, 50},
	} {
		if got := m.GatherSeconds(test.level, test.row, test.threads); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %v", test, got)
		}
	}
	for span, want := range map[float64]float64{0: 1, 1000: 1, 2000: 2.5, 4000: 3.25, 1e12: 4} {
		if got := m.SpreadSeconds(0, 100, span, 1); math.Abs(got-want) > 1e-6 {
			t.Errorf("a row within %v bytes takes %v, want %v", span, got, want)
		}
	}
	if got := m.SpreadSeconds(1, 100, 1e12, 1); got != 10 {
		t.Errorf("memory has no spread, a row takes %v", got)
	}
	if got := m.StreamSeconds(1, 1000, 4); math.Abs(got-100) > 1e-9 {
		t.Errorf("a stream takes %v, want 100", got)
	}
}

func TestMeasuredValid(t *testing.T) {
	for name, spoil := range map[string]func(m *device.Measured){
		"no threads":        func(m *device.Measured) { m.Threads = 0 },
		"no levels":         func(m *device.Measured) { m.Levels = nil },
		"no memory":         func(m *device.Measured) { m.Levels = m.Levels[:1] },
		"memory in between": func(m *device.Measured) { m.Levels[0].Bytes = 0 },
		"no gather":         func(m *device.Measured) { m.Levels[1].Gather = nil },
		"no stream":         func(m *device.Measured) { m.Levels[0].Stream = device.Rate{} },
		"NaN":               func(m *device.Measured) { m.Levels[0].Gather[0].One = math.NaN() },
		"infinite":          func(m *device.Measured) { m.Levels[0].Gather[1].All = math.Inf(1) },
		"out of order":      func(m *device.Measured) { m.Levels[0].Gather[0].RowBytes = 400 },
		"twice":             func(m *device.Measured) { m.Levels[0].Spread[0].RowBytes = 300 },
		"negative reach":    func(m *device.Measured) { m.Reach = -1 },
	} {
		m := measured()
		spoil(&m)
		if m.Valid() {
			t.Errorf("%s is valid", name)
		}
	}
	if (&device.Measured{}).Valid() {
		t.Error("the zero value is valid")
	}
}
