package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestThreads(t *testing.T) {
	if got := Threads(3); got != 3 {
		t.Errorf("Threads(3) = %d", got)
	}
	for _, n := range []int{0, -1} {
		if got := Threads(n); got != runtime.GOMAXPROCS(0) {
			t.Errorf("Threads(%d) = %d", n, got)
		}
	}
}

// Every unit runs exactly once, whatever the number of threads.
func TestUnitsRunsEachOnce(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 3, 16} {
		for _, units := range []int{-1, 0, 1, 2, 3, 100, 10_000} {
			runs := make([]int32, max(units, 0))
			if err := Units(context.Background(), threads, units, func(u int) { atomic.AddInt32(&runs[u], 1) }); err != nil {
				t.Fatal(err)
			}
			for u, n := range runs {
				if n != 1 {
					t.Fatalf("%d threads: unit %d of %d ran %d times", threads, u, units, n)
				}
			}
		}
	}
}

// Goroutines that are done with their own span take what is left of the others': here the first unit lasts until all others are done.
func TestUnitsBalance(t *testing.T) {
	for _, threads := range []int{2, 3, 8} {
		const units = 40
		var others sync.WaitGroup
		others.Add(units - 1)
		err := Units(context.Background(), threads, units, func(u int) {
			if u == 0 {
				others.Wait()
			} else {
				others.Done()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnitsUsesAtMostThreads(t *testing.T) {
	const threads = 3
	var now, most atomic.Int32
	err := Units(context.Background(), threads, 60, func(int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if most.Load() > threads {
		t.Errorf("%d units ran at the same time, want at most %d", most.Load(), threads)
	}
}

func TestUnitsCancel(t *testing.T) {
	for _, threads := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		var ran atomic.Int32
		cancelled := make(chan struct{})
		err := Units(ctx, threads, 1_000_000, func(int) {
			switch n := ran.Add(1); {
			case n == 10:
				cancel()
				close(cancelled)
			case n > 10: // began before it was cancelled, or should not have begun
				<-cancelled
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: error %v", threads, err)
		}
		if n := int(ran.Load()); n < 10 || n > 10+threads-1 {
			t.Errorf("%d threads: %d units ran, cancelled in the tenth; want at most one more for each other thread", threads, n)
		}
		before := ran.Load()
		if err := Units(ctx, threads, 100, func(int) { ran.Add(1) }); !errors.Is(err, context.Canceled) || ran.Load() != before {
			t.Errorf("%d threads: a cancelled context ran %d units, error %v", threads, ran.Load()-before, err)
		}
		if err := Units(ctx, threads, 0, func(int) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads, no units: error %v", threads, err)
		}
	}
}

// A panic in a unit reaches the caller, and only after all workers have stopped.
func TestUnitsPanics(t *testing.T) {
	for _, threads := range []int{1, 4} {
		var running atomic.Int32
		func() {
			defer func() {
				if r := recover(); r != "unit 7" {
					t.Errorf("%d threads: recovered %v", threads, r)
				}
				if n := running.Load(); n != 0 {
					t.Errorf("%d threads: %d units still run", threads, n)
				}
			}()
			_ = Units(context.Background(), threads, 1000, func(u int) {
				running.Add(1)
				defer running.Add(-1)
				if u == 7 {
					panic("unit 7")
				}
				time.Sleep(10 * time.Microsecond)
			})
			t.Errorf("%d threads: no panic", threads)
		}()
	}
}

// Ranges are in order, without gaps, and differ in length by one at most.
func TestRangesCoverAll(t *testing.T) {
	for _, parts := range []int{0, 1, 2, 3, 7, 64} {
		for _, n := range []int64{0, 1, 2, 6, 7, 8, 1000, 1<<40 + 3} {
			want := int(min(int64(Threads(parts)), max(n, 1)))
			los, his := make([]int64, want), make([]int64, want)
			var calls atomic.Int32
			Ranges(parts, n, func(p int, lo, hi int64) {
				los[p], his[p] = lo, hi
				calls.Add(1)
			})
			if int(calls.Load()) != want {
				t.Fatalf("Ranges(%d, %d): %d calls, want %d", parts, n, calls.Load(), want)
			}
			end := int64(0)
			for p := range want {
				if los[p] != end {
					t.Fatalf("Ranges(%d, %d): part %d starts at %d, want %d", parts, n, p, los[p], end)
				}
				if l := his[p] - los[p]; l < n/int64(want) || l > n/int64(want)+1 {
					t.Fatalf("Ranges(%d, %d): part %d has %d", parts, n, p, l)
				}
				end = his[p]
			}
			if end != n {
				t.Fatalf("Ranges(%d, %d) ends at %d", parts, n, end)
			}
		}
	}
}

// Workers gives each goroutine a number of its own below threads, and every unit to one of them.
func TestWorkers(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		const units = 1000
		busy := make([]atomic.Int32, threads)
		var done [units]atomic.Int32
		err := Workers(context.Background(), threads, units, func(worker, unit int) {
			if busy[worker].Add(1) != 1 {
				t.Errorf("%d threads: two goroutines are number %d", threads, worker)
			}
			done[unit].Add(1)
			runtime.Gosched()
			busy[worker].Add(-1)
		})
		if err != nil {
			t.Fatal(err)
		}
		for u := range done {
			if n := done[u].Load(); n != 1 {
				t.Fatalf("%d threads: unit %d was done %d times", threads, u, n)
			}
		}
	}
}
