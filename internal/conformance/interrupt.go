package conformance

import (
	"context"
	"time"

	"sddmmkit/internal/cputime"
)

// Interrupt returns a context that is cancelled after a time, and a function that returns how long the process has had
// processors since then, which does not count what other programs do meanwhile.
func Interrupt(parent context.Context, after time.Duration) (ctx context.Context, worked func() time.Duration) {
	ctx, cancel := context.WithCancel(parent)
	began := make(chan time.Duration, 1)
	time.AfterFunc(after, func() {
		cancel()
		began <- cputime.Process()
	})
	return ctx, func() time.Duration {
		ended := cputime.Process()
		return ended - <-began
	}
}
