package bench

import (
	"sddmmkit/bench/record"
	"sddmmkit/device"
)

// Roofline is what a machine was measured to do with a number of threads and an element type. What was
// not measured limits nothing.
type Roofline struct {
	Threads int             `json:"threads"`
	Flops   float64         `json:"flops"` // per second, of all threads
	Memory  device.Measured `json:"memory"`

	// Of a GPU, in bytes per second, beyond its caches; a copy counts what it reads and what it writes.
	Read float64 `json:"read,omitempty"`
	Copy float64 `json:"copy,omitempty"`
}

// ceiling is the least time a case can take, and what sets it.
type ceiling struct {
	seconds float64
	limit   string
}

// of returns the ceiling for a case with the given flops and traffic. Each cache holds the rows of B that
// are used most. The other arrays come from the nearest level that holds everything the
// case touches.
func (r Roofline) of(c record.Counts, t traffic) ceiling {
	best := ceiling{}
	if r.Flops > 0 {
		best = ceiling{float64(c.Flops) / r.Flops, "flops"}
	}
	nearer := int64(0) // bytes of caches before this level
	streamed := false
	threads := float64(max(r.Threads, 1))
	span := float64(t.gathered.active() * t.row)
	for i, l := range r.Memory.Levels {
		missed := t.gathered.top(t.gathered.active()) - t.gathered.top(nearer/max(t.row, 1))
		seconds := float64(missed) / threads * r.Memory.SpreadSeconds(i, float64(t.row), span, r.Threads)
		if last := i == len(r.Memory.Levels)-1; !streamed && (last || c.Compulsory <= l.Bytes) {
			streamed = true
			seconds += r.Memory.StreamSeconds(i, float64(t.streamed)/threads, r.Threads)
		}
		if seconds > best.seconds {
			best = ceiling{seconds, l.Name}
		}
		nearer = max(nearer, l.Bytes)
	}
	return best
}
