package cpu

import (
	"slices"
	"testing"
	"time"

	"sddmmkit/device"
)

// scaled returns a measurement with other rates at one level, of one thread and of all.
func scaled(m device.Measured, level int, one, all float64) device.Measured {
	m.Levels = slices.Clone(m.Levels)
	l := &m.Levels[level]
	l.Gather = slices.Clone(l.Gather)
	for k := range l.Gather {
		l.Gather[k].One *= one
		l.Gather[k].All *= all
	}
	return m
}

// A measurement of a slow moment is taken again, and the better rates are kept.
func TestMeasureAgainWhenFaster(t *testing.T) {
	g := device.Gather{Name: "go", Read: readRows}
	m, _, err := measure(t.Context(), small, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		level    int
		one, all float64
		again    bool
	}{
		{"slow L1", 0, 1e-3, 1e3, true},
		{"slow L1 of all threads", 0, 1e3, 1e-3, true},
		{"fast L1", 0, 1e3, 1e3, false},
		{"slow L3", 2, 1e-3, 1e-3, true},
		{"fast L3", 2, 1e3, 1e3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(CacheVariable, t.TempDir())
			kept := scaled(m, c.level, c.one, c.all)
			rate := func(m device.Measured) device.Rate { return m.Levels[c.level].Gather[0] }
			// What is not scaled is far too fast, or one slow moment of this machine would be taken for two.
			for i := range kept.Levels {
				if i != c.level {
					kept = scaled(kept, i, 1e3, 1e3)
				}
			}
			newStore(small, g.Name).save(kept)
			d := New(2)
			d.props = small
			got, err := d.Measure(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			stored, ok := newStore(small, g.Name).load()
			if again := rate(got) != rate(kept); again != c.again || !ok || rate(stored) != rate(got) {
				t.Errorf("kept %v and %v of the rates: measured again %v, and kept %v", c.one, c.all, again, rate(stored) == rate(got))
			}
			// The same program looks again, but not at once.
			for _, ago := range []time.Duration{0, lookEvery} {
				d.measured[g.Name] = looked{kept, time.Now().Add(-ago)}
				got, err := d.Measure(t.Context(), g)
				if err != nil {
					t.Fatal(err)
				}
				if again := rate(got) != rate(kept); again != (c.again && ago > 0) {
					t.Errorf("%v and %v of the rates, looked at %v ago: measured again %v", c.one, c.all, ago, again)
				}
			}
		})
	}
}

// Of two measurements the better rates of caches count, and the later ones of memory, unless they have different levels.
func TestBestOf(t *testing.T) {
	measured := func(l1, l3, memory float64) device.Measured {
		level := func(name string, bytes int64, rate float64) device.Level {
			r := device.Rate{RowBytes: 512, One: rate, All: 2 * rate}
			return device.Level{Name: name, Bytes: bytes, Shared: name != "L1", Gather: []device.Rate{r}, Stream: r}
		}
		return device.Measured{Threads: 2, Loop: "go", Levels: []device.Level{level("L1", 1<<15, l1), level("L3", 1<<25, l3), level("memory", 0, memory)}}
	}
	got, want := bestOf(measured(9, 3, 2), measured(8, 5, 1)), measured(9, 5, 1)
	if a, b := text(t, got), text(t, want); a != b {
		t.Errorf("%s, want %s", a, b)
	}
	again := measured(1, 1, 1)
	for name, m := range map[string]device.Measured{"none": {}, "no L3": {Levels: measured(9, 9, 9).Levels[:1]}} {
		if a, b := text(t, bestOf(m, again)), text(t, again); a != b {
			t.Errorf("%s: %s, want %s", name, a, b)
		}
	}
}
