package record

import (
	"math"
	"testing"
)

func TestSummarize(t *testing.T) {
	got := Summarize([]float64{5, 1, 4, 2, 3, 100})
	if want := (Summary{Median: 3.5, Low: 1, High: 100, MAD: 1.5, Min: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := Summarize([]float64{7}), (Summary{Median: 7, Low: 7, High: 7, Min: 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The places of the interval, from tables of the sign test (counted from 0).
func TestMedianInterval(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 0, 5: 0, 6: 0, 8: 0, 9: 1, 10: 1, 12: 2, 20: 5, 25: 7, 50: 17, 100: 39} {
		lo, hi := medianInterval(n)
		if lo != want || hi != n-1-want {
			t.Errorf("n = %d: %d to %d, want %d to %d", n, lo, hi, want, n-1-want)
		}
		// By the definition: P(X ≤ lo) ≤ 2.5 % < P(X ≤ lo+1), with exact binomials.
		p := func(r int) float64 {
			sum, c := 0.0, 1.0
			for k := 0; k <= r; k++ {
				sum += c * math.Pow(0.5, float64(n))
				c = c * float64(n-k) / float64(k+1)
			}
			return sum
		}
		if n >= 6 && !(p(lo) <= 0.025 && p(lo+1) > 0.025) {
			t.Errorf("n = %d: chances %v and %v", n, p(lo), p(lo+1))
		}
	}
}
