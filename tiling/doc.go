// Package tiling cuts a sparsity pattern into the pieces that workers and caches like. All of it
// are pure functions of a pattern: no device, no values, no clock.
package tiling
