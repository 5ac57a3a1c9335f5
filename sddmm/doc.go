// Package sddmm computes sampled dense-dense matrix products: for a sparse M×N matrix S with
// pattern Ω and dense A (M×K) and B (N×K),
//
//	P_ij = α·f(S_ij, ⟨A_i, B_j⟩) + β·P_ij        for (i,j) ∈ Ω
//
// where the epilogue f is one of
//
//	Dot       f(s, d) = d        the pattern alone
//	Scale     f(s, d) = s·d      Nisa et al., cuSDDMM, algorithm 2
//	Residual  f(s, d) = s − d    gradients of squared loss
//	Quotient  f(s, d) = s / d    LDA and KL divergence (cuSDDMM, equation 3)
//
// The cost is 2·nnz·K flops. With β = 0, P is not read and may hold anything; with α = 0, neither
// A, B nor S is read. K = 0 makes every dot product zero. Quotient divides as Go does: by zero it gives an
// infinity or NaN, and the sign of a zero dot product is not specified.
//
// Compute takes host matrices and is the whole operation in one call. A Plan works on a pattern
// that is resident on a device, and on values and dense matrices resident there, and is what
// solvers call over and over. Results are bitwise the same from run to run and for any number of
// threads, because each dot product is summed in an order that depends on K alone; on a GPU it depends on the scheme
// too, which the plan chooses by the pattern and K (Plan.SetTile), or by the clock where it is asked to (Plan.Tune).
//
// RunMixed takes A and B in 16 bits, for GPUs: half the bytes to gather, and sums and results in float32.
//
// On GPUs a plan keeps a value for each non-zero on the device where rows of A and B have more than 256 bytes, and its
// pattern 4 bytes for each where rows have fewer than 32 on average.
package sddmm
