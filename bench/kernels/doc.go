// Package kernels holds the kernels that measure what a GPU can do: sources in the dialect (package dialect), the PTX
// made of them, and the variants that there are. What they compute is said in their files.
package kernels
