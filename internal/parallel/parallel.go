// Package parallel runs loops over goroutines: the one place that starts workers on the host.
//
// Results never depend on the number of workers: callers hand out independent units of work
// and combine partial results in unit order.
//
// Goroutines stay for a tenth of a millisecond after a loop, asking for the next one, and so does the caller for the last of them:
// solvers run thousands of short loops, and a thread that sleeps takes that long to wake.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Threads returns n if n is positive and the number of usable CPUs otherwise.
func Threads(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Units calls body(unit) for every unit in [0, units) on at most threads goroutines. Each first draws the units of a span of
// its own, in increasing order and the same in every loop of as many units, so that what it wrote before is in a cache near
// it; then those left of the others' spans, so that unequal units balance. It stops drawing when ctx is done and then
// returns ctx's error; a panic in body is raised again in the caller.
func Units(ctx context.Context, threads, units int, body func(unit int)) error {
	return Workers(ctx, threads, units, func(_, unit int) { body(unit) })
}

// Workers is Units with the number of the goroutine that calls body, below threads: what it keeps under that number no other one uses at the same time.
func Workers(ctx context.Context, threads, units int, body func(worker, unit int)) error {
	if units <= 0 {
		return ctx.Err()
	}
	threads = min(Threads(threads), units)
	done := ctx.Done()
	if threads == 1 {
		for u := range units {
			select {
			case <-done:
				return ctx.Err()
			default:
			}
			body(0, u)
		}
		return ctx.Err()
	}
	var (
		spans    = make([]span, threads)
		stop     atomic.Bool
		once     sync.Once
		panicked any
	)
	for w := range spans {
		spans[w].next.Store(int64(units) * int64(w) / int64(threads))
		spans[w].end = int64(units) * int64(w+1) / int64(threads)
	}
	work := func(worker int) {
		defer func() {
			if r := recover(); r != nil {
				once.Do(func() { panicked = r })
				stop.Store(true)
			}
		}()
		for n := range spans {
			for s := &spans[(worker+n)%threads]; !stop.Load(); {
				select {
				case <-done:
					return
				default:
				}
				u := s.next.Add(1) - 1
				if u >= s.end {
					break
				}
				body(worker, int(u))
			}
		}
	}
	helped := &loop{done: make(chan struct{})}
	helped.left.Store(int64(threads - 1))
	for w := 1; w < threads; w++ {
		hand(&share{func() { work(w) }, helped})
	}
	work(0)
	helped.wait()
	if panicked != nil {
		panic(panicked)
	}
	return ctx.Err()
}

// span is the units from next to end. It fills a cache line, for its goroutine writes it all the time.
type span struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// Ranges cuts [0, n) into at most parts equal ranges and calls body(part, lo, hi) for each,
// all at the same time.
func Ranges(parts int, n int64, body func(part int, lo, hi int64)) {
	parts = int(min(int64(Threads(parts)), max(n, 1)))
	_ = Units(context.Background(), parts, parts, func(p int) {
		lo := n / int64(parts) * int64(p)
		hi := n / int64(parts) * int64(p+1)
		rem := n % int64(parts)
		lo += min(int64(p), rem)
		hi += min(int64(p)+1, rem)
		body(p, lo, hi)
	})
}
