//go:build unix

package bench

import "syscall"

// processSeconds returns how long this process has had processors, 0 where that is not known.
func processSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) * 1e-9
}
