package tiling

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

func itoa(n int) string { return strconv.Itoa(n) }

// checkTiles: tiles hold the entries in order and without gaps, each entry names its non-zero, and
// all non-zeros are there.
func checkTiles[R, C Local](t *testing.T, p *sparse.Pattern, s *Tiles[R, C], row func(tile Tile, r R) int, first func(tile Tile) int) {
	t.Helper()
	seen := make([]int, p.NNZ())
	at := int64(0)
	for _, tile := range s.Tiles {
		if tile.Lo != at || tile.Hi <= tile.Lo {
			t.Fatalf("tile %+v, want entries from %d", tile, at)
		}
		at = tile.Hi
		last := int64(-1)
		for e := tile.Lo; e < tile.Hi; e++ {
			z := s.Source[e]
			i := row(tile, s.Row[e])
			if int(s.Row[e]) >= min(s.Ti, int(tile.Rows)) || int(s.Col[e]) >= s.Tj {
				t.Fatalf("entry %d at (%d,%d) of a %d×%d tile", e, s.Row[e], s.Col[e], tile.Rows, s.Tj)
			}
			if z < p.RowPtr[i] || z >= p.RowPtr[i+1] || int(p.ColIdx[z]) != first(tile)+int(s.Col[e]) {
				t.Fatalf("entry %d at (%d,%d) is not non-zero %d", e, i, first(tile)+int(s.Col[e]), z)
			}
			if key := int64(s.Row[e])<<32 | int64(s.Col[e]); key <= last {
				t.Fatalf("entry %d is out of order", e)
			} else {
				last = key
			}
			seen[z]++
		}
	}
	for z, n := range seen {
		if n != 1 {
			t.Fatalf("non-zero %d is in %d entries", z, n)
		}
	}
}

func checkSML2[R, C Local](t *testing.T, p *sparse.Pattern, panels *Panels, ti int) {
	t.Helper()
	s, err := NewSML2[R, C](p, panels, ti, 3)
	if err != nil {
		t.Fatal(err)
	}
	checkTiles(t, p, &s.Tiles,
		func(tile Tile, r R) int { return int(s.Active[tile.Active+int64(r)]) },
		func(tile Tile) int { return int(tile.J) * panels.Width })
	for q := range panels.Count() {
		for n := s.Start[q]; n < s.Start[q+1]; n++ {
			if tile := s.Tiles.Tiles[n]; int(tile.J) != q || int(tile.I) != n-s.Start[q] || int(tile.Rows) > ti || tile.Rows < 1 {
				t.Fatalf("tile %d of panel %d: %+v", n-s.Start[q], q, tile)
			}
		}
	}
	other, err := NewSML2[R, C](p, panels, ti, 1)
	if err != nil || !reflect.DeepEqual(s, other) {
		t.Fatalf("one thread makes other tiles, error %v", err)
	}
}

func checkSMSM[R, C Local](t *testing.T, p *sparse.Pattern, ti, tj int) {
	t.Helper()
	s, err := NewSMSM[R, C](p, ti, tj, 3)
	if err != nil {
		t.Fatal(err)
	}
	checkTiles(t, p, &s.Tiles,
		func(tile Tile, r R) int { return int(tile.I)*ti + int(r) },
		func(tile Tile) int { return int(tile.J) * tj })
	for i := range len(s.Start) - 1 {
		for n := s.Start[i]; n < s.Start[i+1]; n++ {
			if tile := s.Tiles.Tiles[n]; int(tile.I) != i || n > s.Start[i] && tile.J <= s.Tiles.Tiles[n-1].J {
				t.Fatalf("tile %d of row panel %d: %+v", n-s.Start[i], i, tile)
			}
		}
	}
	other, err := NewSMSM[R, C](p, ti, tj, 1)
	if err != nil || !reflect.DeepEqual(s, other) {
		t.Fatalf("one thread makes other tiles, error %v", err)
	}
}

func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		p := random(rng, rng.IntN(40), rng.IntN(50), float64(1+rng.IntN(3)))
		ti, tj := 1+rng.IntN(20), 1+rng.IntN(20)
		panels, err := Columns(p, tj, 1)
		if err != nil {
			t.Fatal(err)
		}
		checkSML2[uint16, uint16](t, p, panels, ti)
		checkSML2[uint16, uint32](t, p, panels, ti)
		checkSML2[uint32, uint32](t, p, panels, 1<<20)
		checkSMSM[uint16, uint16](t, p, ti, tj)
		checkSMSM[uint32, uint16](t, p, 1<<20, tj)
	}
}

// The largest local index of a narrow tile is used.
func TestNarrowLimit(t *testing.T) {
	p := &sparse.Pattern{Rows: 65537, Cols: 131073, RowPtr: make([]int64, 65538)}
	for i := range p.Rows {
		p.ColIdx = append(p.ColIdx, 65535, 65536, 131072)
		p.RowPtr[i+1] = int64(len(p.ColIdx))
	}
	checkSMSM[uint16, uint16](t, p, 65536, 65536)
	panels, err := Columns(p, 65536, 2)
	if err != nil {
		t.Fatal(err)
	}
	checkSML2[uint16, uint16](t, p, panels, 65536)
	for _, err := range []error{
		second(NewSMSM[uint16, uint16](p, 65537, 65536, 1)),
		second(NewSMSM[uint16, uint16](p, 65536, 65537, 1)),
		second(NewSML2[uint16, uint16](p, panels, 65537, 1)),
	} {
		if err == nil || !strings.Contains(err.Error(), "do not fit into uint16; use uint32") {
			t.Errorf("error %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTileErrors(t *testing.T) {
	p := long(10)
	panels, err := Columns(p, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"tiles of 0×4":                 second(NewSML2[uint16, uint16](p, panels, 0, 1)),
		"tiles of 3×-1":                second(NewSMSM[uint16, uint16](p, 3, -1, 1)),
		"not those of this pattern":    second(NewSML2[uint16, uint16](long(9), panels, 2, 1)),
		"not increasing within [0,10)": second(NewSMSM[uint16, uint16](&sparse.Pattern{Rows: 1, Cols: 10, RowPtr: []int64{0, 2}, ColIdx: []int32{4, 1}}, 3, 3, 1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func FuzzTiles(f *testing.F) {
	f.Add([]byte("a row\xffanother\xff\xff row"), uint16(100), uint8(7), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, cols uint16, ti, tj uint8) {
		if ti == 0 || tj == 0 {
			return
		}
		p := fromBytes(data, int(cols))
		checkSMSM[uint16, uint16](t, p, int(ti), int(tj))
		panels, err := Columns(p, int(tj), 1)
		if err != nil {
			t.Fatal(err)
		}
		checkSML2[uint16, uint16](t, p, panels, int(ti))
	})
}

func BenchmarkTiles(b *testing.B) {
	p := uniform(131_072, 131_072, 40)
	panels, err := Columns(p, 1<<14, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("SM-L2", func(b *testing.B) {
		benchNNZ(b, p, func() { _, _ = NewSML2[uint16, uint16](p, panels, 64, 0) })
	})
	b.Run("SM-SM", func(b *testing.B) {
		benchNNZ(b, p, func() { _, _ = NewSMSM[uint16, uint16](p, 96, 96, 0) })
	})
}
