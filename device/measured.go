package device

import (
	"context"
	"math"
)

// Measured is what a device was measured to do, where Props say what its vendor promises. It feeds
// the models. The zero value means not measured.
type Measured struct {
	Threads int     `json:"threads"` // "all" in the rates below
	Loop    string  `json:"loop"`    // what read the rows: Gather.Name
	Levels  []Level `json:"levels"`  // caches from the nearest to the farthest, then memory

	// Reach is how many bytes of addresses can be read at random without looking up pages all the
	// time; 0 where that makes no difference.
	Reach int64 `json:"reach"`
}

// Level is a cache, or the memory.
type Level struct {
	Name   string `json:"name"`   // "L1", "L2", "L3", "memory"
	Bytes  int64  `json:"bytes"`  // what it holds in practice, which may be less than its size; memory holds everything: 0
	Shared bool   `json:"shared"` // one for all threads, else each thread has its own

	// SetBytes is how far apart lines are that share a set of the cache, where bits of the address pick it: that or a multiple. Where pages lie
	// anywhere in the memory, as they may on a virtual machine, it is a page at most. Caches that mix more bits have 0.
	SetBytes int64 `json:"set_bytes,omitempty"`

	// Gather are the rates at which rows are read in random order, by increasing length of a row.
	Gather []Rate `json:"gather"`
	// Spread are the same where the rows lie far beyond the reach. Empty for a level that holds too
	// few pages for that, and for memory, whose Gather is beyond it.
	Spread []Rate `json:"spread,omitempty"`
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

// Mixing says how much longer reads take where rows from a thread's own caches come between rows from beyond them. Of a share h of near reads,
// of t seconds, and others, of t',
//
//	seconds = h·t + (1 − h)·t' + Mixing·h·(1 − h)·(t' − t)
//
// Rows are fetched so many bytes ahead, which is less time where those before come fast, and misses that come close together wait for each other.
// ADR 7 has the measurements.
const Mixing = 0.6

// GatherSeconds returns the time in which each of threads threads reads one row of the given length
// in random order from level l. Between and beyond the lengths that were measured the time grows
// linearly with the length; between one thread and all of them it does with their number.
func (m *Measured) GatherSeconds(l int, rowBytes float64, threads int) float64 {
	return m.gatherSeconds(m.Levels[l].Gather, rowBytes, threads)
}

// SpreadSeconds is GatherSeconds for rows that lie anywhere within span bytes: beyond the reach, more and
// more of the reads wait for a page as well.
func (m *Measured) SpreadSeconds(l int, rowBytes, span float64, threads int) float64 {
	near := m.GatherSeconds(l, rowBytes, threads)
	far := m.Levels[l].Spread
	if len(far) == 0 || span <= float64(m.Reach) {
		return near
	}
	missed := 1 - float64(m.Reach)/span
	return near + missed*max(m.gatherSeconds(far, rowBytes, threads)-near, 0)
}

func (m *Measured) gatherSeconds(rates []Rate, rowBytes float64, threads int) float64 {
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
	all := func(rates []Rate) bool {
		for k, r := range rates {
			if !good(r) || k > 0 && r.RowBytes <= rates[k-1].RowBytes {
				return false
			}
		}
		return true
	}
	last := int64(0)
	for i, l := range m.Levels {
		memory := i == len(m.Levels)-1
		if memory != (l.Bytes == 0) || !memory && l.Bytes < last || !good(l.Stream) || len(l.Gather) == 0 || !all(l.Gather) || !all(l.Spread) {
			return false
		}
		last = l.Bytes
	}
	return m.Reach >= 0
}
