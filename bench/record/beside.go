package record

import (
	"cmp"
	"math"
	"slices"
)

// Beside is a case of ours and the fastest that a peer has for it.
type Beside struct {
	Ours Record
	Peer *Record // nil where there is none
}

// Ratio is how many times as fast ours is: the peer's median time over ours. 0 without a peer.
func (b Beside) Ratio() float64 {
	if b.Peer == nil {
		return 0
	}
	return b.Peer.Median / b.Ours.Median
}

// PairUp returns our records in their order, each with the fastest record of the same case by a peer, on the same
// device with the cache in the same state. What is ours is told by its Implementation, Own.
func PairUp(records []Record) []Beside {
	var all []Beside
	for _, r := range records {
		if r.Implementation != Own {
			continue
		}
		b := Beside{Ours: r}
		for i, peer := range records {
			if peer.Implementation != Own && keyOf(peer, false) == keyOf(r, false) && (b.Peer == nil || peer.Median < b.Peer.Median) {
				b.Peer = &records[i]
			}
		}
		all = append(all, b)
	}
	return all
}

// Mean is the geometric mean of ratios.
type Mean struct {
	Op    Op      `json:"op"` // empty for all
	Peer  string  `json:"peer"`
	Cases int     `json:"cases"`
	Ratio float64 `json:"ratio"` // times as fast as the peer
}

// Means returns the geometric means of the ratios to each peer, by operation and then over all.
func Means(all []Beside) []Mean {
	type group struct {
		peer string
		op   Op
	}
	logs, cases := map[group]float64{}, map[group]int{}
	for _, b := range all {
		if b.Peer == nil {
			continue
		}
		for _, op := range []Op{b.Ours.Op, ""} {
			g := group{b.Peer.Implementation, op}
			logs[g] += math.Log(b.Ratio())
			cases[g]++
		}
	}
	var means []Mean
	for g, n := range cases {
		means = append(means, Mean{Op: g.op, Peer: g.peer, Cases: n, Ratio: math.Exp(logs[g] / float64(n))})
	}
	slices.SortFunc(means, func(a, b Mean) int {
		last := func(op Op) string { return cmp.Or(string(op), "\xff") } // all of a peer's come after each
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(last(a.Op), last(b.Op)))
	})
	return means
}
