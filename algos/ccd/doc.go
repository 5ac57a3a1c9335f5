// Package ccd factorises a sparse matrix of ratings by cyclic coordinate descent, CCD++ (Yu et al.
// 2012; Nisa et al., cuSDDMM, algorithm 1), built purely from the primitives SDDMM and SpMM at K = 1
// and 2.
//
// The model is X·Yᵀ = Σ_t u_t·v_tᵀ, where u_t and v_t are the columns of X (M×K) and Y (N×K), and the loss is that
// of package fit. An iteration takes the factors t = 1 … K in turn. With all others fixed, what u and v of
// one factor should explain is the residual without it, and T times
//
//	R̂   = R + u·vᵀ on Ω                                sddmm.Dot, accumulated
//	u_i = Σ_j R̂_ij·v_j / (λ·n_i + Σ_j v_j²)             spmm(R̂, v) / (λ·n + spmm(Ω, v∘v))
//	v_j = Σ_i R̂_ij·u_i / (λ·n_j + Σ_i u_i²)             the same on the transpose
//	R   = R̂ − u·vᵀ on Ω                                sddmm.Dot, accumulated
//
// with sums over (i,j) ∈ Ω. Each line minimises the loss exactly over what it sets, so the loss never rises. A row
// without ratings gets zero.
//
// The first factors are X = 0 and random Y, and users are solved first. (Algorithm 1 as printed has H = 0 and
// divides by sums of squares of it first, of which all factors would stay zero.)
//
// # Bytes
//
// At these K no element is used more than once or twice, so what counts is the memory that a pass touches. The
// residual is held twice, in the order of the rows and in the order of the columns, so that all passes over it
// stream: reading one copy through the transpose's permutation would cost 8 bytes of index more and, where the
// residual is larger than the caches, a cache line per value. Taking the last factor's product out of the residual and
// the next one's in are one pass with K = 2, R̂ += [−u, u']·[v, v']ᵀ. In float32, per non-zero and factor,
// values and indices are
//
//	2·12       the two passes over the residuals: value read and written, column index
//	2·8·T      spmm(R̂, v) for users and items: value, column index
//	2·4·T      spmm(Ω, v∘v): column index
//
// which is 24 + 24·T bytes; with two passes over each residual it would be 48 + 24·T. Numerator and denominator cannot
// be one SpMM with K = 2, because the values of its matrix would have to be R̂ for one column and ones for the other.
// The columns at work are copied to vectors without gaps, M+N elements against nnz, because gathering
// them from X and Y would touch a cache line per row.
//
// The residuals are computed anew at the start of every iteration, two SDDMMs with all K columns, so that rounding
// does not add up.
//
// # Mean and biases
//
// With Mean, μ (the mean rating) is subtracted first. A bias is a factor of which one side is constant and is not
// solved: X and Y have two more columns, see fit.State. They come first in every iteration.
package ccd
