package conformance

import (
	"math"
	"testing"
)

// Trained is what training on one device came to.
type Trained struct {
	Loss        []float64 // after each iteration
	Predictions []float64 // ⟨x_u, y_i⟩ for all users and items, row by row
}

// Parity checks that training elsewhere went as training on the CPU did: each loss within bound, relative to its size,
// and the predictions within 100·bound in the root of the mean square, relative to theirs. Factors themselves
// may move along directions in which the loss is flat.
func Parity(t *testing.T, cpu, other Trained, bound float64) {
	t.Helper()
	if len(cpu.Loss) == 0 || len(cpu.Loss) != len(other.Loss) || len(cpu.Predictions) == 0 || len(cpu.Predictions) != len(other.Predictions) {
		t.Fatalf("%d and %d losses, %d and %d predictions; want equal numbers of each", len(cpu.Loss), len(other.Loss), len(cpu.Predictions), len(other.Predictions))
	}
	for n, want := range cpu.Loss {
		if got := other.Loss[n]; !(math.Abs(got-want) <= bound*math.Abs(want)) {
			t.Errorf("after iteration %d the loss is %v, on the CPU %v: %.2g apart, bound %.2g", n+1, got, want, math.Abs(got-want)/math.Abs(want), bound)
		}
	}
	var off, size float64
	for n, want := range cpu.Predictions {
		d := other.Predictions[n] - want
		off, size = off+d*d, size+want*want
	}
	if !(math.Sqrt(off) <= 100*bound*math.Sqrt(size)) {
		t.Errorf("predictions are %.2g off those of the CPU, bound %.2g", math.Sqrt(off/size), 100*bound)
	}
	t.Logf("last loss %.2g apart, predictions %.2g", math.Abs(other.Loss[len(cpu.Loss)-1]/cpu.Loss[len(cpu.Loss)-1]-1), math.Sqrt(off/size))
}
