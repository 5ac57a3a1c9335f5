// Package kernels holds the kernels that plan on a GPU, and their PTX: counting, running sums, a stable sort by small keys, and
// what makes transposes and launches of patterns out of them. Every result is the same from run to run: atomic additions
// count, and never say where anything goes.
package kernels
