package tiling

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

func TestOrderByCount(t *testing.T) {
	p := &sparse.Pattern{Rows: 4, Cols: 4, RowPtr: []int64{0, 1, 3, 3, 5}, ColIdx: []int32{2, 0, 2, 2, 3}}
	if got, want := RowsByCount(p).Old, []int32{1, 3, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got, want := ColumnsByCount(p, 2).Old, []int32{2, 0, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
}

// Counts fall, equal ones keep their order, the inverse is one.
func TestOrderProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		p := random(rng, rng.IntN(40), rng.IntN(50), 3)
		counts := make([]int64, p.Cols)
		for _, j := range p.ColIdx {
			counts[j]++
		}
		if got := ColumnCounts(p, 3); !slices.Equal(got, counts) {
			t.Fatalf("column counts %v, want %v", got, counts)
		}
		o := ColumnsByCount(p, 2)
		for n, old := range o.Old {
			if int(o.New[old]) != n {
				t.Fatalf("column %d went to %d, its inverse says %d", old, n, o.New[old])
			}
			if n > 0 {
				if a, b := o.Old[n-1], old; counts[a] < counts[b] || counts[a] == counts[b] && a > b {
					t.Fatalf("column %d of %d before column %d of %d", a, counts[a], b, counts[b])
				}
			}
		}
	}
}

func checkReorder(t *testing.T, p *sparse.Pattern, rows, cols Order) {
	t.Helper()
	q, perm, err := Reorder(p, rows, cols, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Validate(); err != nil || !q.Sorted() {
		t.Fatalf("the result is not a valid pattern with sorted rows: %v", err)
	}
	for i := range q.Rows {
		old := i
		if rows.Old != nil {
			old = int(rows.Old[i])
		}
		for z := q.RowPtr[i]; z < q.RowPtr[i+1]; z++ {
			j := q.ColIdx[z]
			if cols.Old != nil {
				j = cols.Old[j]
			}
			if from := perm[z]; from < p.RowPtr[old] || from >= p.RowPtr[old+1] || p.ColIdx[from] != j {
				t.Fatalf("non-zero %d is not non-zero %d at (%d,%d)", z, from, old, j)
			}
		}
	}
	back, again, err := Reorder(q, rows.Inverse(), cols.Inverse(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.RowPtr, p.RowPtr) || !slices.Equal(back.ColIdx, p.ColIdx) {
		t.Fatal("the way back does not lead to the pattern")
	}
	for z, n := range again {
		if perm[n] != int64(z) {
			t.Fatalf("non-zero %d comes back as %d", z, perm[n])
		}
	}
	one, perm1, err := Reorder(p, rows, cols, 1)
	if err != nil || !reflect.DeepEqual(one, q) || !slices.Equal(perm1, perm) {
		t.Fatalf("one thread makes another pattern, error %v", err)
	}
}

func TestReorder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 60 {
		p := random(rng, rng.IntN(40), rng.IntN(50), 2)
		checkReorder(t, p, RowsByCount(p), ColumnsByCount(p, 1))
		checkReorder(t, p, Order{}, ColumnsByCount(p, 1))
		checkReorder(t, p, RowsByCount(p), Order{})
		checkReorder(t, p, Order{}, Order{})
	}
	p := uniform(5000, 700, 30)
	checkReorder(t, p, RowsByCount(p), ColumnsByCount(p, 0))
}

func TestReorderErrors(t *testing.T) {
	p := long(4)
	good := RowsByCount(p)
	for want, o := range map[string]Order{
		"an order of 4 and 4 rows; want 3":           {Old: make([]int32, 4), New: make([]int32, 4)},
		"no permutation with its inverse at place 1": {Old: []int32{0, 0, 0}, New: []int32{0, 0, 0}},
		"at place 2": {Old: []int32{0, 1, -2}, New: []int32{0, 1, 2}},
		"at place 0": {Old: []int32{9, 1, 2}, New: []int32{0, 1, 2}},
	} {
		if _, _, err := Reorder(p, o, Order{}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, _, err := Reorder(p, good, good, 1); err == nil || !strings.Contains(err.Error(), "columns; want 4") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkReorder(b *testing.B) {
	p := uniform(131_072, 131_072, 40)
	rows, cols := RowsByCount(p), ColumnsByCount(p, 0)
	benchNNZ(b, p, func() { _, _, _ = Reorder(p, rows, cols, 0) })
}
