package sparse

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Every way to sort a row gives the stable order.
func TestRowSorterStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	lengths := []int{0, 1, 2, insertionRow, insertionRow + 1, 64, 65, 127, 128, 129, 4097}
	for range 100 {
		lengths = append(lengths, rng.IntN(3000))
	}
	for _, n := range lengths {
		s := rowSorter[float64]{limit: 64}
		cols, vals := make([]int32, n), make([]float64, n)
		distinct := 1 + rng.IntN(2*n+1) // from one column for all to hardly any twice
		for k := range n {
			cols[k], vals[k] = int32(rng.IntN(distinct)), float64(k)
		}
		before := append([]int32(nil), cols...)
		s.sort(cols, vals)
		for k := range n {
			if before[int(vals[k])] != cols[k] {
				t.Fatalf("n = %d: value and column parted", n)
			}
			if k > 0 && (cols[k] < cols[k-1] || cols[k] == cols[k-1] && vals[k] < vals[k-1]) {
				t.Fatalf("n = %d: entry %d out of order", n, k)
			}
		}
	}
}

// One long row, sorted within less scratch than it has entries.
func BenchmarkRowSorter(b *testing.B) {
	for _, c := range []struct{ n, limit int }{{100, 100}, {1 << 16, 1 << 16}, {1 << 16, 1 << 12}, {1 << 20, 1 << 12}, {1 << 20, 1 << 10}} {
		b.Run(fmt.Sprintf("%d in %d", c.n, c.limit), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			cols, vals := make([]int32, c.n), make([]float32, c.n)
			from := make([]int32, c.n)
			for k := range from {
				from[k] = rng.Int32()
			}
			s := rowSorter[float32]{limit: c.limit}
			for b.Loop() {
				copy(cols, from)
				s.sort(cols, vals)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/entry")
		})
	}
}
