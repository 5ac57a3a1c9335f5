//go:build !unix

package cputime

import "time"

// Process returns how long this process has had processors, all its threads together, or 0 where that is not known.
func Process() time.Duration { return 0 }
