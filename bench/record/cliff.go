package record

import (
	"math"
	"slices"
)

// Cliff is how a K compares with its neighbours in a sweep over K.
type Cliff struct {
	Record *Record
	// Slowdown is the time over what the curve through the round K gives: 1 lies on the curve, 1.3 is a cliff.
	// For K ≤ 4 the curve is the bytes per second of the smallest round K, since little is computed.
	Slowdown float64
}

// sweepBase are the K through which the curve of a sweep goes.
var sweepBase = []int{8, 16, 32, 64, 128, 256, 1024}

// Cliffs compares each record of a sweep with the curve through the records of the round K (8, 16, 32, 64,
// 128, 256, 1024) that differ from it in K only. Between two of them the curve is a straight line of
// seconds per flop over log K; beyond the last it is level. Records of round K are on the curve and
// are left out, as are those without a curve of at least one K. A case that has several rounds counts by the median of
// what each says, with the curve of that round.
func Cliffs(records []Record) []Cliff {
	var out []Cliff
	var slowdowns [][]float64
	at := map[key]int{}
	for _, round := range rounds(records) {
		for _, c := range cliffsOf(round) {
			k := keyOf(*c.Record, true)
			i, ok := at[k]
			if !ok {
				i, at[k] = len(out), len(out)
				out, slowdowns = append(out, c), append(slowdowns, nil)
			}
			slowdowns[i] = append(slowdowns[i], c.Slowdown)
		}
	}
	for i := range out {
		out[i].Slowdown = Summarize(slowdowns[i]).Median
	}
	return out
}

// cliffsOf is Cliffs for one round.
func cliffsOf(records []Record) []Cliff {
	of := func(r Record) key {
		k := keyOf(r, true)
		k.k = 0
		return k
	}
	curves := map[key][]Record{}
	for _, r := range records {
		if slices.Contains(sweepBase, r.K) {
			curves[of(r)] = append(curves[of(r)], r)
		}
	}
	var out []Cliff
	for i, r := range records {
		curve := curves[of(r)]
		if slices.Contains(sweepBase, r.K) || len(curve) == 0 {
			continue
		}
		slices.SortFunc(curve, func(a, b Record) int { return a.K - b.K })
		want := perFlop(curve, r.K) * float64(r.Flops)
		if r.K <= 4 {
			want = curve[0].Median / float64(curve[0].Bytes) * float64(r.Bytes)
		}
		out = append(out, Cliff{Record: &records[i], Slowdown: r.Median / want})
	}
	return out
}

// perFlop is the curve at k, in seconds per flop.
func perFlop(curve []Record, k int) float64 {
	y := func(r Record) float64 { return r.Median / float64(r.Flops) }
	n := 0
	for n < len(curve) && curve[n].K < k {
		n++
	}
	switch n {
	case 0:
		return y(curve[0])
	case len(curve):
		return y(curve[n-1])
	}
	lo, hi := curve[n-1], curve[n]
	x := (math.Log(float64(k)) - math.Log(float64(lo.K))) / (math.Log(float64(hi.K)) - math.Log(float64(lo.K)))
	return (1-x)*y(lo) + x*y(hi)
}
