package spmm_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// tiled is a matrix with empty rows, short rows, and two rows and two columns that are cut into pieces; share of all places are
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
			if rng.Float64() < share || j == 33 || j == 4444 {
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
	depths32, depths64 := []int{1, 4, 5, 17, 300}, []int{1, 4, 5, 17, 137, 300}
	if testing.Short() {
		depths32, depths64 = []int{4, 300}, []int{137}
	}
	t.Run("float32", func(t *testing.T) { testTiles(t, tiled[float32](t, 4000, 5000, 0.002), depths32...) })
	t.Run("float64", func(t *testing.T) { testTiles(t, tiled[float64](t, 4000, 5000, 0.002), depths64...) })
	// Rows of B are read so often that their last column is apart, and that threads copy slices of panels for themselves.
	t.Run("float32 dense", func(t *testing.T) { testTiles(t, tiled[float32](t, 800, 1100, 0.75), 17, 33, 300) })
	t.Run("float64 dense", func(t *testing.T) { testTiles(t, tiled[float64](t, 300, 400, 0.75), 137) })
	t.Run("float32 in pieces", func(t *testing.T) { testTiles(t, inPieces(t), 33) })
}

// inPieces has rows that are cut into pieces among others, and reads rows of B so often that their last column is apart.
func inPieces(t testing.TB) *sparse.CSR[float32] { return tiled[float32](t, 300, 3000, 0.6) }

// Where there is no memory for copies of B, results have the same bits; where there is none for anything else, calls say so.
func TestWithoutMemoryTheSameBits(t *testing.T) {
	m := inPieces(t)
	run := func(dev device.Device, tile model.Tile) (bits []float32, err error) {
		pat, err := pattern.Upload(dev, &m.Pattern)
		if err != nil {
			return nil, err
		}
		defer pat.Close()
		if pat.Work.Slots == 0 || !model.LastApart(model.SpMM, pat.NNZ, pat.Cols, 33, 4) {
			t.Fatal("no row is in pieces, or the last column is with the others")
		}
		plan, err := spmm.NewPlan[float32](pat)
		if err != nil {
			return nil, err
		}
		defer plan.Close()
		if err := plan.SetTile(tile); err != nil {
			return nil, err
		}
		vals, err := device.FromHost(dev, m.Val)
		if err != nil {
			return nil, err
		}
		defer vals.Close()
		b, err := dense.Upload(dev, normal[float32](m.Cols, 33, 1))
		if err != nil {
			return nil, err
		}
		defer b.Close()
		c, err := dense.Upload(dev, normal[float32](m.Rows, 33, 2))
		if err != nil {
			return nil, err
		}
		defer c.Close()
		err = plan.Run(context.Background(), spmm.NoTrans, 1.5, vals, b, 0.7, c)
		return slices.Clone(c.Buf.Host()), err
	}
	want, err := run(cpu.New(2), model.Tile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range []model.Tile{{}, {Tj: 700}} {
		without := 0
		for n := 1; ; n++ {
			dev := conformance.Failing(cpu.New(2), n)
			bits, err := run(dev, tile)
			switch {
			case errors.Is(err, device.ErrOutOfMemory):
				continue
			case err != nil:
				t.Fatal(err)
			case !slices.Equal(bits, want):
				t.Errorf("tile %v, without allocation %d: other bits", tile, n)
			}
			if !dev.Failed() {
				break
			}
			without++
		}
		if without != 1 {
			t.Errorf("tile %v: calls did without %d allocations, want one, for copies", tile, without)
		}
	}
}

func testTiles[T sparse.Float](t *testing.T, s *sparse.CSR[T], depths ...int) {
	dev := cpu.New(3)
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer pat.Close()
	vals, err := device.FromHost(dev, s.Val)
	if err != nil {
		t.Fatal(err)
	}
	defer vals.Close()
	for _, k := range depths {
		for _, op := range []spmm.Op{spmm.NoTrans, spmm.Trans} {
			rows, cols := s.Rows, s.Cols
			if op == spmm.Trans {
				rows, cols = cols, rows
			}
			b, err := dense.Upload(dev, normal[T](cols, k, 1))
			if err != nil {
				t.Fatal(err)
			}
			prev := normal[T](rows, k, 2)
			for _, beta := range []T{0, 1, 0.7} {
				for _, v := range []*device.Buffer[T]{vals, nil} {
					run := func(tile *model.Tile) []T {
						plan, err := spmm.NewPlan[T](pat)
						if err != nil {
							t.Fatal(err)
						}
						defer plan.Close()
						if tile != nil {
							if err := plan.SetTile(*tile); err != nil {
								t.Fatal(err)
							}
						}
						c, err := dense.Upload(dev, prev)
						if err != nil {
							t.Fatal(err)
						}
						defer c.Close()
						if err := plan.Run(context.Background(), op, 1.5, v, b, beta, c); err != nil {
							t.Fatal(err)
						}
						return slices.Clone(c.Buf.Host())
					}
					slice := model.SliceBytes / int(unsafe.Sizeof(T(0)))
					want := run(&model.Tile{})
					for _, tile := range []*model.Tile{nil, {Tj: 5}, {Tj: 64}, {Tj: 3999}, {Tj: 8000}, {Tk: slice}, {Tk: 2 * slice}, {Tj: 64, Tk: slice}} {
						if got := run(tile); !slices.Equal(got, want) {
							t.Fatalf("K %d, trans %v, β %v: tile %v gives other bits", k, bool(op), beta, tile)
						}
					}
				}
			}
			b.Close()
		}
	}
	plan, err := spmm.NewPlan[T](pat)
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range []model.Tile{{Tj: -1}, {Tk: -128}, {Tk: 100}, {Tk: model.SliceBytes / 2 / int(unsafe.Sizeof(T(0)))}, {Ti: 1}, {Tj: 64, Panels: 1}} {
		if plan.SetTile(tile) == nil {
			t.Errorf("tile %+v was taken", tile)
		}
	}
}
