package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// linger is how long a goroutine that has nothing left to do in a loop waits before it lets go of its processor. The next loop most often
// follows at once, and to wake a thread of the operating system takes about as long on a virtual machine: as long as a whole
// call on a small matrix.
const linger = 100 * time.Microsecond

// share is what one helper does of a loop.
type share struct {
	run func()
	of  *loop
}

// loop counts the shares that helpers have not done.
type loop struct {
	left atomic.Int64
	done chan struct{} // closed at none
}

// helper is a goroutine that does shares, one after the other.
type helper struct{ next atomic.Pointer[share] }

// idle are the helpers that wait for a share.
var idle struct {
	sync.Mutex
	helpers []*helper
}

// hand gives a share to a helper that waits, the last one that came, or to a new one.
func hand(s *share) {
	idle.Lock()
	last := len(idle.helpers) - 1
	if last < 0 {
		idle.Unlock()
		go new(helper).help(s)
		return
	}
	h := idle.helpers[last]
	idle.helpers = idle.helpers[:last]
	idle.Unlock()
	h.next.Store(s)
}

func (h *helper) help(s *share) {
	for s != nil && h.do(s) {
		s = h.wait()
	}
}

// do does a share, and reports whether the helper waits for another one: it is among the idle ones before the loop ends, so that the next
// loop finds it there.
func (h *helper) do(s *share) (waits bool) {
	defer func() { // also where the share ended the goroutine
		if s.of.left.Add(-1) == 0 {
			close(s.of.done)
		}
	}()
	s.run()
	idle.Lock()
	defer idle.Unlock()
	if len(idle.helpers) >= runtime.GOMAXPROCS(0)-1 {
		return false
	}
	idle.helpers = append(idle.helpers, h)
	return true
}

// wait returns the next share, or nil where there was none for a while.
func (h *helper) wait() *share {
	for !spin(func() bool { return h.next.Load() != nil }) {
		if h.leave() {
			return nil
		}
	}
	return h.next.Swap(nil)
}

// leave takes the helper from the idle ones; it is not there when a share is on its way.
func (h *helper) leave() bool {
	idle.Lock()
	defer idle.Unlock()
	for n, other := range idle.helpers {
		if other == h {
			idle.helpers = append(idle.helpers[:n], idle.helpers[n+1:]...)
			return true
		}
	}
	return false
}

// wait returns when all shares are done.
func (l *loop) wait() {
	if !spin(func() bool { return l.left.Load() == 0 }) {
		<-l.done
	}
}

// spin asks until the answer is yes, for as long as linger, and lets other goroutines run in between.
func spin(ask func() bool) bool {
	for start := time.Now(); ; {
		for range 32 {
			if ask() {
				return true
			}
		}
		if time.Since(start) > linger {
			return false
		}
		runtime.Gosched()
	}
}
