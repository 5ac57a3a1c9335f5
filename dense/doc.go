// Package dense holds dense row-major matrices, on the host and on devices, and the row-wise
// operations that solvers need between SDDMM and SpMM.
//
// Element (i, j) of a matrix with Stride s is element i·s + j of its data, s ≥ Cols: the layout of
// gonum's blas32.General, blas64.General and mat.Dense. So the conversions from and to those
// ([FromBlas32], [FromBlas64], [FromGonum], [ToBlas32], [ToBlas64], [ToGonum]) share the elements
// and copy nothing; [FromMatrix] copies any gonum matrix.
//
// A [Matrix] lies in Go memory. A [Resident] lies on a device: it is allocated or uploaded once,
// takes part in any number of operations without leaving the device, and is closed by its owner.
// Operands of one operation that live on different devices are an error that names both.
//
// Both may hold numbers of 16 bits, [device.BFloat16] or [device.Float16], for storage: [Rounded], [Round] and [Widen] convert
// them from and to float32; sddmm.RunMixed and spmm.RunMixed take them as operands.
//
// Operations run on the CPU and on devices that launch kernels (files _gpu.go, and package dense/kernels). Reductions
// are summed in float64 on both, in an order that depends on sizes alone: results have the same bits from run to
// run and for any number of threads, but a GPU's are not the CPU's to the last bit. On a GPU an operation may
// return before it has run; those that return a number wait for it.
package dense
