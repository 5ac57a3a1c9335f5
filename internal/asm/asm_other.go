//go:build !amd64 || noasm

package asm

func detect() Level { return Generic }

// For returns the loops in Go: this build has no others.
func For[T Float]() Kernels[T] { return generic[T]() }

// Prefetch does nothing in this build.
func Prefetch[T Float](row []T) {}
