package fit

import "strconv"

// Names under which a model remembers the system that its factors solve, the same for all solvers.
const (
	MetaLambda     = "lambda"
	MetaWeighted   = "weighted"    // "true": λ is multiplied with the number of ratings
	MetaBiasLambda = "bias_lambda" // only with biases
	MetaSeed       = "seed"
)

// Meta returns what a model should remember of the options.
func (o *Options[T]) Meta(implicit bool) map[string]string {
	m := map[string]string{
		MetaLambda:   strconv.FormatFloat(o.Lambda, 'g', -1, 64),
		MetaWeighted: strconv.FormatBool(o.Weighted(implicit)),
		MetaSeed:     strconv.FormatUint(o.Seed, 10),
	}
	if o.Biases {
		m[MetaBiasLambda] = strconv.FormatFloat(o.LambdaOfBiases(), 'g', -1, 64)
	}
	return m
}
