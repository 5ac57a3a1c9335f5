package record

import (
	"math"
	"slices"
)

// Summary describes samples of a time, in seconds per call.
type Summary struct {
	Median float64 `json:"seconds_median"`
	Low    float64 `json:"seconds_low"`  // the 95 % confidence interval of the median;
	High   float64 `json:"seconds_high"` // with less than 6 samples it is all of them, and less sure
	MAD    float64 `json:"seconds_mad"`  // median absolute deviation from the median
	Min    float64 `json:"seconds_min"`
}

// Summarize returns the summary of at least one sample.
func Summarize(samples []float64) Summary {
	x := slices.Clone(samples)
	slices.Sort(x)
	s := Summary{Median: median(x), Min: x[0]}
	lo, hi := medianInterval(len(x))
	s.Low, s.High = x[lo], x[hi]
	for i := range x {
		x[i] = math.Abs(x[i] - s.Median)
	}
	slices.Sort(x)
	s.MAD = median(x)
	return s
}

// median returns the median of sorted samples.
func median(x []float64) float64 {
	n := len(x)
	return x[(n-1)/2]/2 + x[n/2]/2
}

// medianInterval returns the places in n sorted samples between which the median of the
// distribution lies with a confidence of at least 95 %: the number of samples below it is
// binomial with chance ½, whatever the distribution.
func medianInterval(n int) (lo, hi int) {
	sum := 0.0 // the chance that at most r samples lie below
	for r := range (n + 1) / 2 {
		if sum += math.Exp(logChoose(n, r) - float64(n)*math.Ln2); sum > 0.025 {
			break
		}
		lo = r
	}
	return lo, n - 1 - lo
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
