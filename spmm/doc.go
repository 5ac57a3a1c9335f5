// Package spmm computes sparse-dense matrix products: for a sparse M×N matrix S
//
//	C = α·S·B + β·C       NoTrans: B is N×K, C is M×K
//	C = α·Sᵀ·B + β·C      Trans:   B is M×K, C is N×K
//
// The values of S are S's own or any buffer on its pattern, such as one that sddmm has written;
// without values every non-zero counts as 1. The cost is 2·nnz·K flops. With β = 0, C is not read
// and may hold anything; with α = 0, neither S nor B is read. C must not share memory with B.
//
// Compute takes host matrices and is the whole operation in one call. A Plan works on a pattern
// that is resident on a device, and is what solvers call over and over. Trans goes over the
// pattern's transpose, a second index that is made at the first such call and reads the values where
// they are. Results are bitwise the same from run to run and for any number of threads: each row of C is
// summed in an order that depends on its non-zeros and K alone, and where a long row is cut depends on the
// pattern alone. On a GPU any row may be cut, where the non-zeros before it end a group's run, so that its last bits
// depend on the rows before it too.
//
// RunMixed takes B in 16 bits, for GPUs: half the bytes to gather, and sums and results in float32.
package spmm
