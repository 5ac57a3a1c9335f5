// Package pattern holds sparsity patterns on a device: the index arrays resident there, cut into
// units of work, planned once and shared by every operation and every value on the pattern.
//
// A pattern (structure and plan) and its values are separate. Values are any device.Buffer with
// one element per non-zero, in the pattern's order; sddmm writes such buffers, spmm reads them.
// The transpose of a pattern is a second index over the same values: a pattern of its own, and
// for each of its non-zeros the place of its value in the order of the original.
package pattern
