// Package als factorises a sparse matrix by alternating least squares, built purely from the
// primitives SDDMM and SpMM.
//
// With the item factors Θ fixed, every user u has a small linear system (Zhou et al., ALS-WR; Tan
// et al., cuMF, equation 2):
//
//	(Θ_uᵀΘ_u + λ·n_u·I)·x_u = Θ_uᵀ·r_u           Θ_u: the rows of Θ that u has rated, n_u of them
//
// None of these matrices is ever built. All users are solved at the same time by conjugate
// gradients with a Jacobi preconditioner, starting from the present factors, where for a block V of
// directions, one row per user,
//
//	operator        spmm(sddmm.Dot(V, Θ on Ω), Θ) + λ·n∘V
//	first residual  spmm(sddmm.Residual(X, Θ on Ω), Θ) − λ·n∘X
//	diagonal        spmm(Ω, Θ∘Θ) + λ·n
//
// and the scalars of conjugate gradients are per row (dense.RowCG). Items are solved by the same
// code on the transposed pattern. A step costs one SDDMM and one SpMM, 4·nnz·K flops.
//
// With Mean, μ (the mean rating) is subtracted first. With Biases the model is μ + b_u + c_i + ⟨x_u, θ_i⟩,
// and the biases are solved together with the factors: a row of X is [x_u, b_u/s, s] and one of Θ is
// [θ_i, s, c_i/s], of which the first K+1 columns are the unknowns of the users' systems; for the items'
// systems the last two columns change places. The constant s gives biases a λ of their own. (On GPUs there are columns
// of zeros between and behind them: fit.State.)
//
// With Implicit, a value r says how strongly a user turned to an item (Hu, Koren, Volinsky 2008): the
// preference is 1 where r > 0 and 0 elsewhere, with confidence c = 1 + α·|r|, and the loss
//
//	Σ_all c_ui·(p_ui − ⟨x_u, θ_i⟩)² + λ·(Σ‖x_u‖² + Σ‖θ_i‖²)
//
// runs over all cells of the matrix, not only the stored ones. Its operator is
// V·ΘᵀΘ + spmm(sddmm.Scale((c−1)∘⟨V, Θ⟩ on Ω), Θ) + λ·V. A negative r is a dislike: preference 0 with
// confidence 1 + α·|r|.
package als
