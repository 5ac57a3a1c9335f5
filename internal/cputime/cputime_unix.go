//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process returns how long this process has had processors, all its threads together, or 0 where that is not known.
func Process() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
