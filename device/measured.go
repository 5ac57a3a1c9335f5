package device

import (
	"context"
	"math"
	"slices"
)

// Measured is what a device was measured to do, where Props say what its vendor promises. It feeds
// the models. The zero value means not measured.
type Measured struct {
	Threads int     `json:"threads"` // "all" in the rates below
	Loop    string  `json:"loop"`    // what read the rows: Gather.Name
	Levels  []Level `json:"levels"`  // caches from the nearest to the farthest, then memory
}

// Level is a cache, or the memory.
type Level struct {
	Name   string `json:"name"`   // "L1", "L2", "L3", "memory"
	Bytes  int64  `json:"bytes"`  // what it holds in practice, which may be less than its size; memory holds everything: 0
	Shared bool   `json:"shared"` // one for all threads, else each thread has its own

	// Gather are the rates at which rows are read in random order, by increasing length of a row.
	Gather []Rate `json:"gather"`
	// Stream is the rate at which rows are read one after the other.
	Stream Rate `json:"stream"`
}

// Rate is how fast rows of one length are read, in bytes per second.
type Rate struct {
	RowBytes int     `json:"row_bytes"`
	One      float64 `json:"one"` // by one thread while the others rest
	All      float64 `json:"all"` // by all threads together
}

// Gather is a loop that reads rows of a matrix in any order, such as an operation's inner loop. The
// zero value is a loop in Go, which does not fetch ahead.
type Gather struct {
	Name string // of the loop, for telling measurements apart: "sddmm avx512"

	// Read reads rows idx of a row-major matrix whose rows are row elements long and follow each
	// other without gaps. It is called by several goroutines at a time.
	Read func(data []float32, row int, idx []int32)
}

// Measurer is a device that measures itself.
type Measurer interface {
	// Measure returns what the device does when g reads rows. It takes up to a few seconds the
	// first time and remembers its result.
	Measure(ctx context.Context, g Gather) (Measured, error)
}

// GatherSeconds returns the time in which each of threads threads reads one row of the given length
// in random order from level l. Between and beyond the lengths that were measured the time grows
// linearly with the length; between one thread and all of them it does with their number.
func (m *Measured) GatherSeconds(l int, rowBytes float64, threads int) float64 {
	rates := m.Levels[l].Gather
	n := len(rates)
	k := 0
	for k < n-2 && float64(rates[k+1].RowBytes) < rowBytes {
		k++
	}
	a, b := rates[k], rates[min(k+1, n-1)]
	ta, tb := m.rowSeconds(a, threads), m.rowSeconds(b, threads)
	if a.RowBytes == b.RowBytes || rowBytes <= float64(a.RowBytes) {
		// A shorter row is still a row: it takes no less than its share of the first.
		return ta * max(rowBytes, float64(min(a.RowBytes, 64))) / float64(a.RowBytes)
	}
	slope := max(tb-ta, 0) / float64(b.RowBytes-a.RowBytes)
	return ta + slope*(rowBytes-float64(a.RowBytes))
}

// StreamSeconds returns the time in which each of threads threads reads the given number of bytes
// from level l, one after the other.
func (m *Measured) StreamSeconds(l int, bytes float64, threads int) float64 {
	r := m.Levels[l].Stream
	return m.rowSeconds(r, threads) * bytes / float64(r.RowBytes)
}

// rowSeconds returns the time of one row per thread.
func (m *Measured) rowSeconds(r Rate, threads int) float64 {
	one, all := float64(r.RowBytes)/r.One, float64(r.RowBytes)*float64(m.Threads)/r.All
	if m.Threads <= 1 || threads <= 1 {
		return one
	}
	share := float64(threads-1) / float64(m.Threads-1)
	return max(one+(all-one)*share, min(one, all))
}

// Valid reports whether m can feed a model: it has levels, the last being memory, and all rates are
// positive numbers.
func (m *Measured) Valid() bool {
	good := func(r Rate) bool {
		return r.RowBytes > 0 && r.One > 0 && r.All > 0 && !math.IsInf(r.One+r.All, 0)
	}
	if m.Threads < 1 || len(m.Levels) == 0 {
		return false
	}
	last := int64(0)
	for i, l := range m.Levels {
		memory := i == len(m.Levels)-1
		if memory != (l.Bytes == 0) || !memory && l.Bytes < last || !good(l.Stream) || len(l.Gather) == 0 || !slices.IsSortedFunc(l.Gather, func(a, b Rate) int { return a.RowBytes - b.RowBytes }) {
			return false
		}
		for k, r := range l.Gather {
			if !good(r) || k > 0 && r.RowBytes == l.Gather[k-1].RowBytes {
				return false
			}
		}
		last = l.Bytes
	}
	return true
}
