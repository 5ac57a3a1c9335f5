package bench

import (
	"context"
	"math"
	"testing"

	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

// Four rows of B of 100 bytes, used 5, 3, 1 and 1 times; 1000 other bytes.
func TestRoofline(t *testing.T) {
	tr := traffic{row: 100, gathered: newPopularity([]int64{1, 5, 0, 3, 1}), streamed: 1000}
	c := record.Counts{Flops: 4000, Compulsory: 1400}
	// One thread: rates that do not depend on the length of a row.
	level := func(name string, bytes int64, gather, stream float64) device.Level {
		return device.Level{Name: name, Bytes: bytes, Gather: []device.Rate{{RowBytes: 50, One: gather, All: gather}, {RowBytes: 200, One: gather, All: gather}},
			Stream: device.Rate{RowBytes: 100, One: stream, All: stream}}
	}
	levels := func(l1, l2 int64) device.Measured {
		m := device.Measured{Threads: 1, Levels: []device.Level{level("L1", l1, 1e9, 1e9), level("L2", l2, 100, 200), level("memory", 0, 10, 20)}}
		return m
	}
	for _, x := range []struct {
		name    string
		roof    Roofline
		seconds float64
		limit   string
	}{
		{"nothing measured", Roofline{}, 0, ""},
		{"flops alone", Roofline{Flops: 8}, 500, "flops"},
		{"flops more than memory", Roofline{Flops: 8, Memory: levels(0, 0)}, 500, "flops"},
		// No cache: ten rows of 100 bytes at 10, and 1000 bytes at 20.
		{"memory", Roofline{Flops: 1000, Memory: levels(0, 0)}, 100 + 50, "memory"},
		// L2 holds two rows: 8 of 10 gathers. Memory: 2 rows and the stream.
		{"two rows in L2", Roofline{Flops: 1000, Memory: levels(0, 250)}, 20 + 50, "memory"},
		// L2 holds all, the stream too: 10 rows at 100 and 1000 bytes at 200.
		{"all in L2", Roofline{Flops: 1000, Memory: levels(0, 1400)}, 10 + 5, "L2"},
		// And the most used row is in L1.
		{"one row in L1", Roofline{Flops: 1000, Memory: levels(100, 1400)}, 5 + 5, "L2"},
	} {
		got := x.roof.of(c, tr)
		if math.Abs(got.seconds-x.seconds) > 1e-9 || got.limit != x.limit {
			t.Errorf("%s: %v s by %q, want %v s by %q", x.name, got.seconds, got.limit, x.seconds, x.limit)
		}
	}
}

// With two threads each has half of the rows, at the rate of both.
func TestRooflineThreads(t *testing.T) {
	rate := device.Rate{RowBytes: 100, One: 10, All: 15}
	roof := Roofline{Threads: 2, Memory: device.Measured{Threads: 2, Levels: []device.Level{{Name: "memory", Gather: []device.Rate{rate}, Stream: rate}}}}
	got := roof.of(record.Counts{}, traffic{row: 100, gathered: newPopularity([]int64{6, 4}), streamed: 500})
	if want := (1000.0 + 500) / 15; math.Abs(got.seconds-want) > 1e-9 {
		t.Errorf("%v s, want %v", got.seconds, want)
	}
}

func TestBetter(t *testing.T) {
	m := func(one, all float64, bytes int64) device.Measured {
		r := device.Rate{RowBytes: 64, One: one, All: all}
		return device.Measured{Threads: 2, Loop: "x", Levels: []device.Level{{Name: "L2", Bytes: bytes, Gather: []device.Rate{r}, Spread: []device.Rate{r}, Stream: r}}}
	}
	got := better(m(1, 5, 100), m(2, 3, 90))
	if l := got.Levels[0]; l.Bytes != 100 || l.Gather[0] != (device.Rate{RowBytes: 64, One: 2, All: 5}) || l.Stream != l.Gather[0] || l.Spread[0] != l.Gather[0] || got.Loop != "x, x" {
		t.Errorf("%+v", got)
	}
	if got := better(m(1, 5, 100), device.Measured{}); got.Levels[0].Bytes != 100 {
		t.Errorf("%+v", got)
	}
}

func TestPopularity(t *testing.T) {
	p := newPopularity([]int64{0, 2, 7, 0, 1})
	if p.active() != 3 {
		t.Errorf("%d active", p.active())
	}
	for n, want := range map[int64]int64{-1: 0, 0: 0, 1: 7, 2: 9, 3: 10, 99: 10} {
		if got := p.top(n); got != want {
			t.Errorf("the %d fullest have %d, want %d", n, got, want)
		}
	}
	if p := newPopularity(nil); p.active() != 0 || p.top(3) != 0 {
		t.Errorf("of nothing: %+v", p)
	}
}

// Ceilings are positive where they are measured; how high is the machine's affair.
func TestMeasureRoofline(t *testing.T) {
	t.Setenv("SDDMMKIT_CACHE", t.TempDir())
	if testing.Short() {
		t.Skip("measures for a second")
	}
	r, err := MeasureRoofline[float32](context.Background(), cpu.New(2))
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Flops > 0) || !r.Memory.Valid() || r.Threads != 2 {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasureRoofline[float64](ctx, cpu.New(1)); err == nil {
		t.Error("cancelled, and no error")
	}
}
