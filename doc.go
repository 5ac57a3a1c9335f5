// Package sddmmkit is a toolkit for sparse linear algebra in machine learning, built around one
// primitive that most libraries lack, the sampled dense-dense matrix product
//
//	SDDMM   P_ij = f(S_ij, ⟨A_i, B_j⟩)    for the non-zeros (i,j) of a sparse S
//
// and its companion SpMM, C = α·op(S)·B + β·C. Solvers are built from these two and nothing else, so
// whatever makes the two faster makes every solver faster.
//
// This package holds no code. Where to look:
//
//	sparse      host matrices COO, CSR, CSC: build, validate, transpose, pick, summarise
//	  interop   to and from gonum and james-bowman/sparse
//	dense       row-major matrices on host and device, and row-wise operations on them
//	dataset     files of many formats, generators, splits, id maps
//	sddmm       sampled dense-dense products: one call, or planned on resident operands
//	spmm        sparse-dense products, likewise
//	algos/als   alternating least squares, for ratings and for implicit feedback
//	algos/ccd   cyclic coordinate descent (CCD++), for ratings
//	algos/fit   what all solvers share: options, iterations, early stopping
//	factors     trained models: predictions, top-N lists, similar items, metrics, files
//	device      the seam between operations and the places where they run
//	  cpu       the driver of the host's processor
//	  cuda      the driver of NVIDIA's GPUs
//	backend     opens devices by name
//	pattern     a sparsity pattern on a device, planned once, shared by all operations
//	tiling      cuts patterns into units of work, panels and tiles
//	model       predicts traffic and seconds of a tile, and chooses
//	bench       measures, checks, compares; bench/cusparse puts cuSPARSE beside ours
//	cmd/sddmm   the command
//
// ARCHITECTURE.md says how they fit together and which may import which; docs/adr says why.
package sddmmkit
