package sddmm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// tiled is a matrix with empty rows, short rows, and two rows that are cut into pieces; share of all places are
// non-zeros.
func tiled[T sparse.Float](t testing.TB, rows, cols int, share float64) *sparse.CSR[T] {
	rng := rand.New(rand.NewPCG(5, 6))
	c := &sparse.COO[T]{Rows: rows, Cols: cols}
	for i := range c.Rows {
		share := share
		switch {
		case i%9 == 4:
			continue
		case i == 17 || i == 90:
			share = 0.8
		}
		for j := range c.Cols {
			if rng.Float64() < share {
				c.Row, c.Col, c.Val = append(c.Row, int32(i)), append(c.Col, int32(j)), append(c.Val, T(rng.NormFloat64()))
			}
		}
	}
	s, err := sparse.FromCOO(c, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func normal[T sparse.Float](rows, cols int, seed uint64) dense.Matrix[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New[T](rows, cols)
	for i := range m.Data {
		m.Data[i] = T(rng.NormFloat64())
	}
	return m
}

// No tile changes a bit.
func TestTilesGiveTheSameBits(t *testing.T) {
	depths32, depths64 := []int{1, 2, 17, 128, 129, 145, 272, 300, 512}, []int{1, 2, 17, 64, 80, 81, 128, 129, 145, 272, 300, 512}
	if testing.Short() {
		depths32, depths64 = []int{1, 145, 300}, []int{81, 300}
	}
	t.Run("float32", func(t *testing.T) { testTiles(t, tiled[float32](t, 200, 5000, 0.01), depths32...) })
	t.Run("float64", func(t *testing.T) { testTiles(t, tiled[float64](t, 200, 5000, 0.01), depths64...) })
	// Rows of B are read so often that their last column is apart, and that threads copy slices of panels for themselves.
	t.Run("float32 dense", func(t *testing.T) { testTiles(t, tiled[float32](t, 800, 1100, 0.75), 17, 300) })
	t.Run("float64 dense", func(t *testing.T) { testTiles(t, tiled[float64](t, 300, 400, 0.75), 145) })
}

func testTiles[T sparse.Float](t *testing.T, s *sparse.CSR[T], depths ...int) {
	dev := cpu.New(3)
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer pat.Close()
	for _, k := range depths {
		a, err := dense.Upload(dev, normal[T](s.Rows, k, 1))
		if err != nil {
			t.Fatal(err)
		}
		b, err := dense.Upload(dev, normal[T](s.Cols, k, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient} {
			for _, beta := range []T{0, 0.7} {
				for _, alias := range []bool{false, true} {
					run := func(tile *model.Tile) []T {
						plan, err := sddmm.NewPlan[T](pat)
						if err != nil {
							t.Fatal(err)
						}
						if tile != nil {
							if err := plan.SetTile(*tile); err != nil {
								t.Fatal(err)
							}
						}
						vals, err := device.FromHost(dev, s.Val)
						if err != nil {
							t.Fatal(err)
						}
						defer vals.Close()
						out := vals
						if !alias {
							if out, err = device.FromHost(dev, s.Val); err != nil {
								t.Fatal(err)
							}
							defer out.Close()
						}
						if err := plan.Run(context.Background(), f, 1.5, vals, a, b, beta, out); err != nil {
							t.Fatal(err)
						}
						return slices.Clone(out.Host())
					}
					slice := model.SliceBytes / int(unsafe.Sizeof(T(0)))
					want := run(&model.Tile{})
					for _, tile := range []*model.Tile{nil, {Tj: 5}, {Tj: 64}, {Tj: 4999}, {Tj: 8000},
						{Tj: 700, Tk: slice}, {Tj: 700, Tk: 2 * slice}, {Tk: slice}, {Tk: 2 * slice}} {
						name := "chosen"
						if tile != nil {
							name = fmt.Sprint(*tile)
						}
						if got := run(tile); !slices.Equal(got, want) {
							t.Fatalf("K %d, %v, β %v, P is S %v: tile %s gives other bits", k, f, beta, alias, name)
						}
					}
				}
			}
		}
		a.Close()
		b.Close()
	}
}

func TestBadTiles(t *testing.T) {
	s := tiled[float32](t, 200, 5000, 0.01)
	pat, err := pattern.Upload(cpu.New(1), &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer pat.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range []model.Tile{{Tj: -1}, {Tj: 5, Tk: 100}, {Tk: -128}, {Tk: model.SliceBytes / 8}} {
		if plan.SetTile(tile) == nil {
			t.Errorf("tile %+v was taken", tile)
		}
	}
}

// Tile is settled by SetTile, or by the first call where there is nothing to try.
func TestTile(t *testing.T) {
	s := tiled[float32](t, 200, 5000, 0.01)
	dev := cpu.New(1)
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer pat.Close()
	a, err := dense.Upload(dev, normal[float32](s.Rows, 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := dense.Upload(dev, normal[float32](s.Cols, 4, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out, err := device.Alloc[float32](dev, s.NNZ())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	plan, err := sddmm.NewPlan[float32](pat)
	if err != nil {
		t.Fatal(err)
	}
	if tile, settled := plan.Tile(4); settled {
		t.Errorf("tile %v is settled before the first call", tile)
	}
	if err := plan.Run(context.Background(), sddmm.Dot, 1, nil, a, b, 0, out); err != nil {
		t.Fatal(err)
	}
	if tile, settled := plan.Tile(4); !settled || tile != (model.Tile{}) {
		t.Errorf("little work: tile %v, settled %t", tile, settled)
	}
	want := model.Tile{Tj: 1000, Tk: 128}
	if err := plan.SetTile(want); err != nil {
		t.Fatal(err)
	}
	if tile, settled := plan.Tile(256); !settled || tile != want {
		t.Errorf("tile %v, settled %t; want %v", tile, settled, want)
	}
}
