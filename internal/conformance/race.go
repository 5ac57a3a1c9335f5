//go:build race

package conformance

// Raced says that the race detector watches. It sees each access at ten times the cost, and what runs at the same time is the same for
// all element types: suites run for one of them then, and others may leave out what differs in numbers only.
const Raced = true
