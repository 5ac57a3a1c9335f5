package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func testBuild[T Float](t *testing.T) {
	for _, s := range shapes {
		for _, share := range []float64{0, 0.3} {
			rng := rand.New(rand.NewPCG(uint64(s.nnz), uint64(s.rows)))
			c := randomCOO[T](rng, s.rows, s.cols, s.nnz, share)
			for _, dup := range []Duplicates{ErrorOnDuplicates, SumDuplicates, LastDuplicate} {
				model, bad := mimicOf(c, dup)
				want := model.csr(s.rows, s.cols)
				for _, threads := range []int{1, 2, 3, 8} {
					name := fmt.Sprintf("%s (%d×%d, %d entries, %v repeat), rule %d, %d threads", s.why, s.rows, s.cols, len(c.Val), share, dup, threads)
					got, err := FromCOO(c, BuildOptions{Duplicates: dup, Threads: threads})
					if bad != nil {
						var e *DuplicateError
						if !errors.As(err, &e) || *e != *bad {
							t.Fatalf("%s: error %v, want %v", name, err, bad)
						}
						continue
					}
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if d := diff(got, want); d != "" {
						t.Fatalf("%s: %s", name, d)
					}
					if err := got.Validate(); err != nil || !got.Sorted() {
						t.Fatalf("%s: sorted %v, %v", name, got.Sorted(), err)
					}
				}
			}
		}
	}
}

func TestFromCOOAgainstMap(t *testing.T) {
	t.Run("float32", testBuild[float32])
	t.Run("float64", testBuild[float64])
}

// Triplets that come row by row take another path; the result is the same.
func TestFromCOOSortedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := randomCOO[float64](rng, 500, 70, 9000, 0.2)
	model, _ := mimicOf(c, LastDuplicate)
	want := model.csr(c.Rows, c.Cols)
	order := make([]int, len(c.Val))
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(c.Row[a] - c.Row[b]) })
	s := &COO[float64]{Rows: c.Rows, Cols: c.Cols}
	for _, p := range order {
		s.Row, s.Col, s.Val = append(s.Row, c.Row[p]), append(s.Col, c.Col[p]), append(s.Val, c.Val[p])
	}
	for _, threads := range []int{1, 2, 5} {
		got, err := FromCOO(s, BuildOptions{Duplicates: LastDuplicate, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(got, want); d != "" {
			t.Fatalf("%d threads: %s", threads, d)
		}
	}
}

// More triplets than a block, so that blocks are skipped; one row that holds most of them; a sum
// over a long run of duplicates.
func TestFromCOOLarge(t *testing.T) {
	const rows, cols, nnz = 3000, 200_000, 3 * blockLen
	rng := rand.New(rand.NewPCG(3, 4))
	c := &COO[float32]{Rows: rows, Cols: cols}
	for p := range nnz {
		row := rows * p / nnz // drifts, so that a block touches some rows only
		if p%2 == 0 {
			row = 1234
		}
		c.Row = append(c.Row, int32(row))
		c.Col = append(c.Col, int32(rng.IntN(cols)))
		c.Val = append(c.Val, rng.Float32())
	}
	for p := range 1000 {
		c.Row[p*7], c.Col[p*7] = 1234, 99
	}
	for _, dup := range []Duplicates{SumDuplicates, LastDuplicate} {
		model, _ := mimicOf(c, dup)
		want := model.csr(rows, cols)
		for _, threads := range []int{1, 4} {
			got, err := FromCOO(c, BuildOptions{Duplicates: dup, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(got, want); d != "" {
				t.Fatalf("rule %d, %d threads: %s", dup, threads, d)
			}
		}
	}
}

func TestFromCOORejects(t *testing.T) {
	ok := func() *COO[float32] {
		return &COO[float32]{Rows: 3, Cols: 4, Row: []int32{0, 2}, Col: []int32{3, 0}, Val: []float32{1, 2}}
	}
	for _, test := range []struct {
		want  string
		spoil func(c *COO[float32], o *BuildOptions)
	}{
		{"-1×4", func(c *COO[float32], _ *BuildOptions) { c.Rows = -1 }},
		{"3×-4", func(c *COO[float32], _ *BuildOptions) { c.Cols = -4 }},
		{"3×2147483648", func(c *COO[float32], _ *BuildOptions) { c.Cols = math.MaxInt32 + 1 }},
		{"3 rows, 2 columns and 2 values", func(c *COO[float32], _ *BuildOptions) { c.Row = append(c.Row, 0) }},
		{"2 rows, 1 columns and 2 values", func(c *COO[float32], _ *BuildOptions) { c.Col = c.Col[:1] }},
		{"entry 1 is at (3, 0), outside a 3×4 matrix", func(c *COO[float32], _ *BuildOptions) { c.Row[1] = 3 }},
		{"entry 1 is at (-1, 0)", func(c *COO[float32], _ *BuildOptions) { c.Row[1] = -1 }},
		{"entry 0 is at (0, 4)", func(c *COO[float32], _ *BuildOptions) { c.Col[0] = 4; c.Col[1] = 9 }},
		{"entry 0 is at (0, -2)", func(c *COO[float32], _ *BuildOptions) { c.Col[0] = -2 }},
		{"outside a 0×4 matrix", func(c *COO[float32], _ *BuildOptions) { c.Rows = 0 }},
		{"unknown BuildOptions.Duplicates 7", func(_ *COO[float32], o *BuildOptions) { o.Duplicates = 7 }},
		{"(0, 3) is given more than once, first by entries 0 and 1", func(c *COO[float32], _ *BuildOptions) { c.Row[1], c.Col[1] = 0, 3 }},
	} {
		c, o := ok(), BuildOptions{}
		test.spoil(c, &o)
		m, err := FromCOO(c, o)
		if err == nil || m != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, err)
		}
	}
	if _, err := FromCOO(ok(), BuildOptions{}); err != nil {
		t.Error(err)
	}
}

// spreadCOO returns nnz distinct positions in no order, about perRow to a row, made without scratch.
func spreadCOO[T Float](rows, nnz int) *COO[T] {
	c := &COO[T]{Rows: rows, Cols: 1 << 20, Row: make([]int32, nnz), Col: make([]int32, nnz), Val: make([]T, nnz)}
	for p := range nnz {
		// Multiplying by an odd number permutes the columns, so that they repeat in no row.
		c.Row[p] = int32(p % rows)
		c.Col[p] = int32(uint32(p/rows) * 2654435761 & (1<<20 - 1))
		c.Val[p] = T(p)
	}
	return c
}

func testPeak[T Float](t *testing.T, rows, nnz, perEntry int) {
	c := spreadCOO[T](rows, nnz)
	coo := float64(nnz * (4 + perEntry))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := FromCOO(c, BuildOptions{Threads: 4})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	// All that was ever allocated bounds what was in use at any time.
	allocated := float64(after.TotalAlloc - before.TotalAlloc)
	csr := float64(nnz*perEntry + 8*(rows+1))
	ratio := (coo + allocated) / csr
	t.Logf("%d rows, %d non-zeros: triplets %.1f MB + allocated %.1f MB = %.3f × the CSR of %.1f MB", rows, nnz, coo/1e6, allocated/1e6, ratio, csr/1e6)
	if fixed := 4*16<<10 + 8<<10; coo+allocated > 2.5*csr+float64(fixed) {
		t.Errorf("peak %.4f × the finished CSR, want at most 2.5 and %d bytes", ratio, fixed)
	}
	if m.NNZ() != int64(nnz) {
		t.Errorf("%d non-zeros, want %d", m.NNZ(), nnz)
	}
}

func TestFromCOOPeakMemory(t *testing.T) {
	nnz := 1 << 20
	if testing.Short() {
		nnz = 1 << 18
	}
	for _, rows := range []int{nnz / 2, nnz / 64, nnz / 2048, 4} {
		t.Run(fmt.Sprintf("float32/%d", rows), func(t *testing.T) { testPeak[float32](t, rows, nnz, 8) })
		t.Run(fmt.Sprintf("float64/%d", rows), func(t *testing.T) { testPeak[float64](t, rows, nnz, 12) })
	}
}

func FuzzFromCOO(f *testing.F) {
	f.Add(3, 4, []byte{0, 0, 2, 3, 0, 0})
	f.Add(0, 0, []byte{})
	f.Add(1, 200, []byte{0, 199, 0, 5, 0, 5})
	f.Add(-1, 1<<40, []byte{9, 9})
	f.Fuzz(func(t *testing.T, rows, cols int, at []byte) {
		if rows > 1<<16 {
			rows %= 1 << 16 // the row pointers are allocated
		}
		c := &COO[float64]{Rows: rows, Cols: cols}
		inside := rows >= 0 && cols >= 0 && cols <= maxDim
		for p := 0; p+1 < len(at); p += 2 {
			i, j := int32(int8(at[p])), int32(int8(at[p+1]))
			inside = inside && i >= 0 && int(i) < rows && j >= 0 && int(j) < cols
			c.Row, c.Col, c.Val = append(c.Row, i), append(c.Col, j), append(c.Val, 1/float64(p+3))
		}
		for _, dup := range []Duplicates{ErrorOnDuplicates, SumDuplicates, LastDuplicate} {
			model, bad := mimicOf(c, dup)
			for _, threads := range []int{1, 3} {
				got, err := FromCOO(c, BuildOptions{Duplicates: dup, Threads: threads})
				switch {
				case !inside || bad != nil:
					if err == nil {
						t.Fatalf("accepted entries out of range or duplicates (%v)", bad)
					}
				case err != nil:
					t.Fatal(err)
				default:
					if d := diff(got, model.csr(rows, cols)); d != "" {
						t.Fatal(d)
					}
				}
			}
		}
	})
}

func BenchmarkFromCOO(b *testing.B) {
	const nnz = 4 << 20
	bench := func(name string, c *COO[float32]) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := FromCOO(c, BuildOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*nnz/b.Elapsed().Seconds()/1e6, "Mnnz/s")
		})
	}
	random := spreadCOO[float32](30_000, nnz)
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(nnz, func(a, b int) {
		random.Row[a], random.Row[b] = random.Row[b], random.Row[a]
		random.Col[a], random.Col[b] = random.Col[b], random.Col[a]
	})
	bench("shuffled", random)
	m, err := FromCOO(random, BuildOptions{})
	if err != nil {
		b.Fatal(err)
	}
	bench("sorted", m.ToCOO())
	bench("byColumn", m.Transpose(0).ToCOO().swapped())
	one := spreadCOO[float32](1, 1<<20)
	b.Run("oneRow", func(b *testing.B) {
		for b.Loop() {
			if _, err := FromCOO(one, BuildOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*(1<<20)/b.Elapsed().Seconds()/1e6, "Mnnz/s")
	})
}

// swapped exchanges rows and columns.
func (c *COO[T]) swapped() *COO[T] {
	return &COO[T]{Rows: c.Cols, Cols: c.Rows, Row: c.Col, Col: c.Row, Val: c.Val}
}
