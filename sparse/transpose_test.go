package sparse

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestTransposeAgainstMap(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(uint64(s.nnz), 9))
		m := randomCSR[float64](t, rng, s.rows, s.cols, s.nnz)
		want := mimicOfCSR(m).transpose().csr(s.cols, s.rows)
		for _, sorted := range []bool{true, false} {
			if !sorted {
				shuffleRows(rng, m)
			}
			for _, threads := range []int{1, 2, 3, 8} {
				name := fmt.Sprintf("%s (%d×%d), sorted %v, %d threads", s.why, s.rows, s.cols, sorted, threads)
				if d := diff(m.Transpose(threads), want); d != "" {
					t.Fatalf("%s: %s", name, d)
				}
				p, perm := m.Pattern.Transpose(threads)
				got := &CSR[float64]{Pattern: *p, Val: make([]float64, len(perm))}
				for q, from := range perm {
					got.Val[q] = m.Val[from]
				}
				if d := diff(got, want); d != "" {
					t.Fatalf("%s: by permutation: %s", name, d)
				}
				csc := m.ToCSC(threads)
				if err := csc.Validate(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d := diff(csc.transposeView(), want); d != "" {
					t.Fatalf("%s: ToCSC: %s", name, d)
				}
				if d := diff(csc.ToCSR(threads), mimicOfCSR(m).csr(s.rows, s.cols)); d != "" {
					t.Fatalf("%s: ToCSC, ToCSR: %s", name, d)
				}
			}
		}
	}
}

// randomCSR returns a matrix with sorted rows.
func randomCSR[T Float](t testing.TB, rng *rand.Rand, rows, cols, nnz int) *CSR[T] {
	t.Helper()
	m, err := FromCOO(randomCOO[T](rng, rows, cols, nnz, 0), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestToCOORoundTrip(t *testing.T) {
	for _, s := range shapes {
		m := randomCSR[float32](t, rand.New(rand.NewPCG(1, 1)), s.rows, s.cols, s.nnz)
		c := m.ToCOO()
		if err := c.Validate(); err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		back, err := FromCOO(c, BuildOptions{})
		if err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		if d := diff(back, m); d != "" {
			t.Fatalf("%s: %s", s.why, d)
		}
	}
}

func TestSortRows(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(2, 3))
		m := randomCSR[float32](t, rng, s.rows, s.cols, s.nnz)
		want := mimicOfCSR(m).csr(s.rows, s.cols)
		for _, threads := range []int{1, 4} {
			shuffleRows(rng, m)
			if err := m.Validate(); err != nil {
				t.Fatalf("%s: unsorted rows: %v", s.why, err)
			}
			p := Pattern{m.Rows, m.Cols, m.RowPtr, append([]int32(nil), m.ColIdx...)}
			m.SortRows(threads)
			if d := diff(m, want); d != "" {
				t.Fatalf("%s, %d threads: %s", s.why, threads, d)
			}
			p.SortRows(threads)
			if d := diff(&CSR[float32]{p, m.Val}, want); d != "" {
				t.Fatalf("%s, %d threads: pattern: %s", s.why, threads, d)
			}
		}
	}
	unsorted := Pattern{Rows: 1, Cols: 3, RowPtr: []int64{0, 2}, ColIdx: []int32{2, 0}}
	if unsorted.Sorted() {
		t.Error("columns 2, 0 are said to be sorted")
	}
}

func FuzzTranspose(f *testing.F) {
	f.Add(uint8(3), uint8(4), []byte{0, 0, 2, 3, 1, 1}, uint64(1))
	f.Add(uint8(1), uint8(200), []byte{0, 199, 0, 5}, uint64(2))
	f.Fuzz(func(t *testing.T, rows, cols uint8, at []byte, seed uint64) {
		model := mimic[float32]{}
		for p := 0; p+1 < len(at) && rows > 0 && cols > 0; p += 2 {
			model[cell{int(at[p] % rows), int(at[p+1] % cols)}] = float32(p + 1)
		}
		m := model.csr(int(rows), int(cols))
		shuffleRows(rand.New(rand.NewPCG(seed, 0)), m)
		want := model.transpose().csr(int(cols), int(rows))
		for _, threads := range []int{1, 3} {
			if d := diff(m.Transpose(threads), want); d != "" {
				t.Fatal(d)
			}
			p, perm := m.Pattern.Transpose(threads)
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			for q, from := range perm {
				if m.Val[from] != want.Val[q] {
					t.Fatalf("perm[%d] = %d", q, from)
				}
			}
		}
	})
}

func BenchmarkTranspose(b *testing.B) {
	m, err := FromCOO(spreadCOO[float32](30_000, 4<<20), BuildOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m.Pattern.Transpose(0)
	}
	b.ReportMetric(float64(b.N)*float64(m.NNZ())/b.Elapsed().Seconds()/1e6, "Mnnz/s")
}
