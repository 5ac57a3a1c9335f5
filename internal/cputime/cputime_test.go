package cputime

import (
	"testing"
	"time"
)

// Work takes time on a processor, and waiting takes almost none.
func TestProcess(t *testing.T) {
	if Process() == 0 {
		t.Skip("not known on this system")
	}
	const work = 20 * time.Millisecond
	for before := Process(); Process()-before < work; { // ends only where the time goes on
	}
	before := Process()
	time.Sleep(10 * work)
	if waited := Process() - before; waited < 0 || waited > 5*work {
		t.Errorf("a sleep of %v took %v on processors", 10*work, waited)
	}
}
