// Package kernels holds the kernels of package dense, in the dialect, and the PTX made of them. Sizes, strides
// and the number of threads that share a row are arguments; the element type is a macro.
package kernels
