//go:build !unix

package bench

// processSeconds returns how long this process has had processors, 0 where that is not known.
func processSeconds() float64 { return 0 }
