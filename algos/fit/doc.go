// Package fit is what all iterative factorisations share: options, the loop over iterations with
// its record, validation, early stopping and interruption. A solver brings its own state and its
// one iteration; see Solver.
//
// The loss that every explicit solver lowers is
//
//	Σ_(i,j)∈Ω (R_ij − R̂_ij)² + λ·(Σ_i w_i·‖x_i‖² + Σ_j w_j·‖θ_j‖²)
//
// with w = the number of ratings of the row (Weighted, the λ of ALS-WR) or 1 (Plain).
package fit
