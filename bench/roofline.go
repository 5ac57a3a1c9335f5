package bench

// Roofline is what a machine was measured to do with a number of threads and an element type. Zero
// means not measured and limits nothing.
type Roofline struct {
	Flops  float64 `json:"flops"`  // per second
	Levels []Level `json:"levels"` // of memory, from the nearest to the farthest
}

// Level is a cache or the memory. Rates are of all threads together, in bytes per second.
type Level struct {
	Name   string  `json:"name"`              // "L1", "L2", "L3", "memory"
	Bytes  int64   `json:"bytes"`             // that a thread finds there; 0 for the last level, which holds everything
	Gather float64 `json:"gather_per_second"` // of rows in random order
	Stream float64 `json:"stream_per_second"` // of arrays, one after the other
}

// ceiling is the least time a case can take, and what sets it.
type ceiling struct {
	seconds float64
	limit   string
}

// of returns the ceiling for a case with the given flops and traffic. Each cache holds the rows of B that
// are used most. The other arrays come from the nearest level that holds everything the
// case touches.
func (r Roofline) of(c Counts, t traffic) ceiling {
	best := ceiling{}
	if r.Flops > 0 {
		best = ceiling{float64(c.Flops) / r.Flops, "flops"}
	}
	nearer := int64(0) // bytes of caches before this level
	streamed := false
	for i, l := range r.Levels {
		missed := t.gathered.top(t.gathered.active()) - t.gathered.top(nearer/max(t.row, 1))
		var seconds float64
		if l.Gather > 0 {
			seconds = float64(missed*t.row) / l.Gather
		}
		last := i == len(r.Levels)-1
		if !streamed && (last || c.Compulsory <= l.Bytes) {
			streamed = true
			if l.Stream > 0 {
				seconds += float64(t.streamed) / l.Stream
			}
		}
		if seconds > best.seconds {
			best = ceiling{seconds, l.Name}
		}
		nearer = max(nearer, l.Bytes)
	}
	return best
}
