// Package cusparse measures NVIDIA's cuSPARSE beside our kernels: it is a bench.DevicePeer. cuSPARSE is opened at run
// time, works in the same process on the same memory and the same stream, and is checked as ours is.
//
//	sddmm    cusparseSDDMM for the epilogue Dot: CUSPARSE_SDDMM_ALG_DEFAULT, with B as a column-major K×N
//	         matrix and as the transpose of a row-major N×K one, which are the same memory
//	spmm     cusparseSpMM with CUSPARSE_SPMM_CSR_ALG1, 2 and 3
//	spmm-t   the same with opA = CUSPARSE_OPERATION_TRANSPOSE, without ALG3, which cannot
//
// S is in CSR with column indices of 32 bits, and row offsets of 32 bits where they hold the number of non-zeros. The
// preprocessing that the library offers has run before anything is timed, with a buffer of the size it asks for.
package cusparse
