package conformance

import (
	"math"
	"testing"
)

func TestNear(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want, bound float64
		ok               bool
	}{
		{1, 1, 0, true}, {1, 1.1, 0.05, false}, {1, 1.1, 0.2, true}, {nan, nan, 0, true}, {nan, 1, 10, false}, {1, nan, 10, false},
		{inf, inf, 0, true}, {-inf, inf, 0, false}, {inf, 1, 10, false}, {1, inf, 10, false},
	} {
		if near(c.got, c.want, c.bound) != c.ok {
			t.Errorf("near(%g, %g, %g) = %t", c.got, c.want, c.bound, !c.ok)
		}
	}
}
