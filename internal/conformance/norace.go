//go:build !race

package conformance

// Raced says that the race detector watches.
const Raced = false
