// Package cpu is the driver of the host's processor: memory is Go memory, a launch is a loop
// over work units on a fixed number of goroutines, and every call has finished when it returns.
package cpu
