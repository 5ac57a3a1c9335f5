package fit

import "math"

// Weighted reports whether λ is multiplied with the number of ratings of the user or item.
func (o *Options[T]) Weighted(implicit bool) bool {
	return o.Regularization == Weighted || o.Regularization == ByFeedback && !implicit
}

// Shifts returns what stands before ‖x_i‖² in the loss, λ·n_i or λ, for every row of a pattern with the given row
// pointers.
func (o *Options[T]) Shifts(rowPtr []int64, implicit bool) []T {
	weighted := o.Weighted(implicit)
	shift := make([]T, len(rowPtr)-1)
	for i := range shift {
		shift[i] = T(o.Lambda)
		if weighted {
			shift[i] = T(o.Lambda * float64(rowPtr[i+1]-rowPtr[i]))
		}
	}
	return shift
}

// LambdaOfBiases returns the λ of the biases.
func (o *Options[T]) LambdaOfBiases() float64 {
	if o.BiasLambda == 0 {
		return o.Lambda / 2
	}
	return o.BiasLambda
}

// BiasScale returns the value s of the constant columns; see State. A bias column holds b/s, so that
// λ·(b/s)² is LambdaOfBiases·b².
func (o *Options[T]) BiasScale() T {
	if o.Lambda == 0 {
		return 1
	}
	return T(math.Sqrt(o.Lambda / o.LambdaOfBiases()))
}
