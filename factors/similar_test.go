package factors

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"sddmmkit/dense"
)

func TestSimilar(t *testing.T) {
	m := randomModel[float32](30, 5000, 7, 21)
	clear(m.Items.Row(3))
	clear(m.Items.Row(40))
	names := make([]string, 5000)
	for i := range names {
		names[i] = string(rune('A' + i%26))
	}
	m.ItemNames = names
	cosines := func(row int) []float64 {
		cos := make([]float64, 5000)
		for i := range cos {
			var ab, aa, bb float64
			for k := range 7 {
				a, b := float64(m.Items.At(row, k)), float64(m.Items.At(i, k))
				ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
			}
			cos[i] = ab / math.Sqrt(aa*bb)
		}
		return cos
	}
	for _, row := range []int{0, 17, 4999} {
		for _, n := range []int{1, 10, 9000} {
			list, err := m.SimilarItems(bg, row, n)
			if err != nil {
				t.Fatal(err)
			}
			if want := min(n, 5000-3); len(list) != want {
				t.Fatalf("row %d: %d similar, want %d", row, len(list), want)
			}
			cos := cosines(row)
			want := slowTop(cos, n, func(i int) bool { return i == row || i == 3 || i == 40 })
			for k, s := range list {
				// Sums in another order: places may only swap among cosines that are equal to rounding.
				if math.Abs(s.Score-cos[s.Item]) > 1e-14 || math.Abs(s.Score-cos[want[k]]) > 1e-14 || s.Name != names[s.Item] {
					t.Fatalf("row %d, place %d: %+v, want item %d with %v", row, k, s, want[k], cos[want[k]])
				}
			}
		}
	}
	list, err := m.SimilarItems(bg, 3, 5)
	if err != nil || len(list) != 0 {
		t.Errorf("an item of norm zero is like %v, %v; want nothing", list, err)
	}
	users, err := m.SimilarUsers(bg, 2, 50)
	if err != nil || len(users) != 29 || slices.Contains(indices(users), 2) {
		t.Errorf("%d similar users, %v; want all 29 others", len(users), err)
	}
}

// Directions that are the same, opposite, at right angles; lengths do not matter; ties by index.
func TestSimilarExact(t *testing.T) {
	rows := dense.Matrix[float64]{Rows: 7, Cols: 2, Stride: 2, Data: []float64{
		0, 3, // 0: the row
		5, 0, // 1: right angle
		0, -1, // 2: opposite
		0, 1e-150, // 3: the same, very short
		0, 1e150, // 4: the same, very long
		0, 0, // 5: nowhere
		math.NaN(), 1, // 6
	}}
	c, err := NewCosine(rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Similar(bg, 0, 10, nil)
	want := []Scored{{3, "3", 1}, {4, "4", 1}, {1, "1", 0}, {2, "2", -1}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	got, err = c.Similar(bg, 0, 1, func(r int) bool { return r != 3 })
	if err != nil || !reflect.DeepEqual(got, want[1:2]) {
		t.Errorf("filtered: %v, %v; want %v", got, err, want[1:2])
	}
}

// Cosines never leave [-1, 1], and multiplying an item by a power of two changes nothing.
func TestSimilarScaled(t *testing.T) {
	m := randomModel[float64](1, 200, 5, 3)
	for i := range 100 { // pairs of the same direction
		for k := range 5 {
			m.Items.Set(100+i, k, 3*m.Items.At(i, k))
		}
	}
	a, err := m.SimilarItems(bg, 0, 199)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a {
		if s.Score > 1 || s.Score < -1 {
			t.Errorf("cosine %v", s.Score)
		}
	}
	if a[0].Item != 100 {
		t.Errorf("most like item 0 is %+v, want item 100", a[0])
	}
	for i := range 200 {
		for k := range 5 {
			m.Items.Set(i, k, m.Items.At(i, k)*float64(int(1)<<(i%9)))
		}
	}
	b, err := m.SimilarItems(bg, 0, 199)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("scaling items by powers of two changed the list (%v)", err)
	}
}

func TestSimilarErrors(t *testing.T) {
	m := randomModel[float64](3, 4, 2, 1)
	_, err := m.SimilarItems(bg, 4, 1)
	wantError(t, err, "item 4", "4 items")
	_, err = m.SimilarUsers(bg, -1, 1)
	wantError(t, err, "user -1", "3 users")
	_, err = m.SimilarItems(bg, 0, 0)
	wantError(t, err, "0 items", "at least 1")
	_, err = NewCosine(m.Items, []string{"a"})
	wantError(t, err, "1 names", "4 rows")
	_, err = NewCosine(dense.Matrix[float32]{Rows: 3, Cols: 3, Stride: 3}, nil)
	wantError(t, err, "3×3")
	c, err := NewCosine(m.Items, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Similar(bg, 9, 1, nil)
	wantError(t, err, "row 9")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err = c.Similar(ctx, 0, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	m.Rank = 7
	_, err = m.SimilarItems(bg, 0, 1)
	wantError(t, err, "rank 7")
	_, err = m.SimilarUsers(bg, 0, 1)
	wantError(t, err, "rank 7")
}
