package parallel

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// gone waits until no helper is left.
func gone(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		idle.Lock()
		waiting := len(idle.helpers)
		idle.Unlock()
		switch {
		case waiting == 0:
			return
		case time.Now().After(deadline):
			t.Fatalf("%d helpers still wait", waiting)
		}
	}
}

// Of loops that follow each other no more helpers wait than there are other processors, and none does for long.
func TestHelpersStayAndGo(t *testing.T) {
	gone(t)
	for range 1000 {
		if err := Units(context.Background(), 4, 100, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	idle.Lock()
	waiting := len(idle.helpers)
	idle.Unlock()
	if most := runtime.GOMAXPROCS(0) - 1; waiting > most {
		t.Errorf("%d helpers wait beside %d processors", waiting, most)
	}
	gone(t)
}

// A share that ends its goroutine, as t.FailNow does, counts as done.
func TestHelperThatEnds(t *testing.T) {
	l := &loop{done: make(chan struct{})}
	l.left.Store(1)
	hand(&share{runtime.Goexit, l})
	<-l.done
}

// Loops of several goroutines, and loops within loops, share the helpers.
func TestLoopsAtTheSameTime(t *testing.T) {
	const outer, inner = 8, 50
	sums := make([]int64, outer)
	err := Units(context.Background(), 4, outer, func(o int) {
		for range 20 {
			part := make([]int64, inner)
			_ = Units(context.Background(), 3, inner, func(i int) { part[i]++ })
			for _, n := range part {
				sums[o] += n
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for o, n := range sums {
		if n != 20*inner {
			t.Errorf("loop %d: %d units of %d", o, n, 20*inner)
		}
	}
}

// How long it takes until all of a loop's goroutines work: each unit waits for the others.
func BenchmarkUnits(b *testing.B) {
	threads := runtime.GOMAXPROCS(0)
	for b.Loop() {
		var started atomic.Int64
		_ = Units(context.Background(), threads, threads, func(int) {
			started.Add(1)
			for started.Load() < int64(threads) {
				runtime.Gosched()
			}
		})
	}
}
