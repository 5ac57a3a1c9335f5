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

// Units calls body(unit) for every unit in [0, units) on at most threads goroutines.
// Workers draw units in increasing order, so that unequal units balance. It stops drawing
// when ctx is done and then returns ctx's error; a panic in body is raised again in the caller.
func Units(ctx context.Context, threads, units int, body func(unit int)) error {
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
			body(u)
		}
		return ctx.Err()
	}
	var (
		next     atomic.Int64
		once     sync.Once
		panicked any
	)
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				once.Do(func() { panicked = r })
				next.Store(int64(units))
			}
		}()
		for {
			select {
			case <-done:
				return
			default:
			}
			u := next.Add(1) - 1
			if u >= int64(units) {
				return
			}
			body(int(u))
		}
	}
	helped := &loop{done: make(chan struct{})}
	helped.left.Store(int64(threads - 1))
	for range threads - 1 {
		hand(&share{work, helped})
	}
	work()
	helped.wait()
	if panicked != nil {
		panic(panicked)
	}
	return ctx.Err()
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
