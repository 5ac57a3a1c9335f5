package factors

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkTopNUsers makes lists of 20 for blocks of users; see users/s.
func BenchmarkTopNUsers(b *testing.B) {
	for _, items := range []int{1_000, 10_000, 100_000} {
		for _, threads := range []int{1, 0} {
			const users = 64
			m := randomModel[float32](users, items, 64, 1)
			m.Seen = randomPattern(users, items, 0.01, 1)
			all := make([]int, users)
			for u := range all {
				all[u] = u
			}
			b.Run(fmt.Sprintf("items=%d/K=64/threads=%d", items, threads), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.TopNUsers(bg, all, 20, TopOptions{Threads: threads}); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds()
				b.ReportMetric(users*float64(b.N)/seconds, "users/s")
				b.ReportMetric(2*64*users*float64(items)*float64(b.N)/seconds/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkTopN is one user alone, as a command asks.
func BenchmarkTopN(b *testing.B) {
	m := randomModel[float32](1, 100_000, 64, 1)
	for b.Loop() {
		if _, err := m.TopN(bg, 0, 20, TopOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTopNSort is what BenchmarkTopN is to be compared with: score all, sort all.
func BenchmarkTopNSort(b *testing.B) {
	m := randomModel[float32](1, 100_000, 64, 1)
	scores := make([]float64, 100_000)
	for b.Loop() {
		if err := m.ScoreUser(0, scores); err != nil {
			b.Fatal(err)
		}
		list := make([]candidate, len(scores))
		for i, s := range scores {
			list[i] = candidate{item: int32(i), score: s}
		}
		slices.SortFunc(list, compare)
	}
}

func BenchmarkSimilar(b *testing.B) {
	m := randomModel[float32](1, 100_000, 64, 1)
	c, err := NewCosine(m.Items, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Similar(bg, 0, 20, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPredictAll(b *testing.B) {
	m := randomModel[float32](2_000, 2_000, 64, 1)
	p := randomPattern(2_000, 2_000, 0.25, 1)
	dst := make([]float32, p.NNZ())
	for b.Loop() {
		if err := m.PredictAll(bg, p, dst, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(p.NNZ())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpairs/s")
}
