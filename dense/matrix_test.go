package dense

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestViewSharesAndCloneCopies(t *testing.T) {
	m := strided[float32](rand.New(rand.NewPCG(5, 6)), 5, 6, 8)
	v := m.View(1, 4, 3)
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	if v.Rows != 3 || v.Cols != 3 || v.Stride != 8 {
		t.Fatalf("view is %d×%d with stride %d", v.Rows, v.Cols, v.Stride)
	}
	c := v.Clone()
	for i := range 3 {
		for j := range 3 {
			if v.At(i, j) != m.At(i+1, j) || c.At(i, j) != v.At(i, j) {
				t.Fatalf("(%d, %d): matrix %v, view %v, clone %v", i, j, m.At(i+1, j), v.At(i, j), c.At(i, j))
			}
		}
	}
	v.Set(2, 1, 50)
	if m.At(3, 1) != 50 {
		t.Error("a view does not share the elements")
	}
	if c.At(2, 1) == 50 || c.Stride != 3 || len(c.Data) != 9 {
		t.Error("a clone shares the elements or keeps the gaps")
	}
	if row := v.Row(0); cap(row) != 3 {
		t.Errorf("a row has capacity %d: appending to it would write the next", cap(row))
	}
}

func TestViewEmpty(t *testing.T) {
	for _, m := range []Matrix[float64]{New[float64](3, 2), New[float64](3, 0), New[float64](0, 2), {Rows: 3, Stride: 5}} {
		for r0 := range m.Rows + 1 {
			v := m.View(r0, m.Rows, 0)
			if err := v.Validate(); err != nil || v.Cols != 0 {
				t.Errorf("%d×%d: %+v, %v", m.Rows, m.Cols, v, err)
			}
			for i := range v.Rows {
				if len(v.Row(i)) != 0 {
					t.Errorf("row %d of a view without columns has %d elements", i, len(v.Row(i)))
				}
			}
		}
	}
}

func TestViewPanics(t *testing.T) {
	m := New[float32](3, 4)
	for _, at := range [][3]int{{-1, 2, 1}, {2, 1, 1}, {0, 4, 1}, {0, 1, 5}, {0, 1, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("View%v did not panic", at)
				}
			}()
			m.View(at[0], at[1], at[2])
		}()
	}
}

func TestColumns(t *testing.T) {
	m := Matrix[float32]{Rows: 2, Cols: 3, Stride: 4, Data: []float32{0, 1, 2, -1, 10, 11, 12}}
	v := m.Columns(1, 3)
	if err := v.Validate(); err != nil || v.Rows != 2 || v.Cols != 2 || v.At(0, 0) != 1 || v.At(1, 1) != 12 {
		t.Errorf("columns 1 and 2 are %+v (%v)", v, err)
	}
	if v.Set(1, 0, 5); m.At(1, 1) != 5 {
		t.Error("the elements are not shared")
	}
	for _, none := range []Matrix[float32]{m.Columns(3, 3), m.Columns(0, 0), {Cols: 3, Stride: 3}} {
		if err := none.Columns(0, none.Cols).Validate(); err != nil || len(none.Data) > 0 {
			t.Errorf("no columns: %+v (%v)", none, err)
		}
	}
	for _, at := range [][2]int{{-1, 2}, {2, 1}, {0, 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Columns%v did not panic", at)
				}
			}()
			m.Columns(at[0], at[1])
		}()
	}
}

func TestValidate(t *testing.T) {
	for _, m := range []Matrix[float32]{
		{},
		{Rows: 3},
		{Cols: 3, Stride: 3},
		{Rows: 1, Cols: 3, Stride: 9, Data: make([]float32, 3)},
		{Rows: 2, Cols: 3, Stride: 4, Data: make([]float32, 7)}, // the last row needs no gap
		{Rows: math.MaxInt, Cols: 0, Stride: math.MaxInt},
	} {
		if err := m.Validate(); err != nil {
			t.Errorf("%d×%d: %v", m.Rows, m.Cols, err)
		}
	}
	for _, m := range []Matrix[float32]{
		{Rows: -1},
		{Rows: 1, Cols: -1},
		{Rows: 1, Cols: 3, Stride: 2, Data: make([]float32, 3)},
		{Rows: 1, Cols: 1, Stride: 1},
		{Rows: 2, Cols: 3, Stride: 4, Data: make([]float32, 6)},
		{Rows: math.MaxInt, Cols: 2, Stride: 4, Data: make([]float32, 6)}, // the product overflows
	} {
		if err := m.Validate(); err == nil {
			t.Errorf("%d×%d with stride %d and %d elements is accepted", m.Rows, m.Cols, m.Stride, len(m.Data))
		}
	}
}
