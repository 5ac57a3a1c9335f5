// Package kernels holds SDDMM for GPUs: sources in the dialect (package dialect), the PTX made of them, and
// the variants that there are. What the kernels compute and how is said in their files.
package kernels
