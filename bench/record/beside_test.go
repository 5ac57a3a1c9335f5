package record

import (
	"fmt"
	"slices"
	"testing"
)

func TestPairUp(t *testing.T) {
	rec := func(implementation, algorithm string, op Op, k int, seconds float64) Record {
		r := Record{Implementation: implementation, Algorithm: algorithm, Op: op, K: k, Matrix: "m", Device: "cuda:0", Cache: Warm, Seconds: []float64{seconds}}
		r.Summarize()
		return r
	}
	cold := rec("p", "x", SpMM, 32, 1e-9)
	cold.Cache = Cold
	pairs := PairUp([]Record{
		rec(Own, "", SDDMM, 32, 1), rec("p", "slow", SDDMM, 32, 9), rec("p", "fast", SDDMM, 32, 4), rec(Own, "", SpMM, 32, 2), rec("p", "only", SpMM, 32, 1),
		rec(Own, "", SpMM, 64, 2), rec("p", "other", SpMMT, 64, 2), cold,
	})
	if len(pairs) != 3 || pairs[0].Peer.Algorithm != "fast" || pairs[0].Ratio() != 4 || pairs[1].Peer.Algorithm != "only" || pairs[1].Ratio() != 0.5 || pairs[2].Peer != nil || pairs[2].Ratio() != 0 {
		t.Errorf("%+v", pairs)
	}
	var got []string
	for _, m := range Means(pairs) {
		got = append(got, fmt.Sprintf("%s %s %d %.4g", m.Op, m.Peer, m.Cases, m.Ratio))
	}
	if want := []string{"sddmm p 1 4", "spmm p 1 0.5", " p 2 1.414"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if m := Means(nil); m != nil {
		t.Errorf("of nothing %v", m)
	}
}
