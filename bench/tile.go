package bench

import (
	"fmt"
	"strconv"
	"strings"

	"sddmmkit/model"
	"sddmmkit/sddmm"
)

// TileBy says what chooses the tile of a case.
type TileBy string

// The ways to choose a tile.
const (
	TileByModel  TileBy = "model"      // the plan's own choice, the default
	TileNone     TileBy = "none"       // no tiles
	TileGiven    TileBy = "given"      // Tile
	TileBySearch TileBy = "exhaustive" // the fastest of a grid, held against the plan's own choice
)

// Tiling is how the tile of a case is chosen. The zero value leaves it to the plan.
type Tiling struct {
	By   TileBy
	Tile model.Tile // for TileGiven
}

// fixed says that the plan is told its tile.
func (t Tiling) fixed() bool { return t.By == TileNone || t.By == TileGiven }

// ParseTiling reads none, model, exhaustive, or a tile as TixTjxTk: rows, columns and depth, each
// a number or 0 for all. Rows are not cut on a CPU: Ti is 0.
func ParseTiling(text string) (Tiling, error) {
	switch by := TileBy(text); by {
	case TileByModel, TileNone, TileBySearch:
		return Tiling{By: by}, nil
	}
	bad := fmt.Errorf("tile %q: want none, model, exhaustive or TixTjxTk such as 0x4096x128, where 0 means all", text)
	parts := strings.Split(text, "x")
	if len(parts) != 3 {
		return Tiling{}, bad
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 32)
		if err != nil || v < 0 {
			return Tiling{}, bad
		}
		n[i] = int(v)
	}
	if n[0] != 0 {
		return Tiling{}, fmt.Errorf("tile %q: rows are not cut on a CPU; want 0 for Ti", text)
	}
	return Tiling{By: TileGiven, Tile: model.Tile{Tj: n[1], Tk: n[2]}}, nil
}

// tileText writes a tile as ParseTiling reads it: none, or 0xTjxTk.
func tileText(t model.Tile) string {
	if t == (model.Tile{}) {
		return "none"
	}
	return fmt.Sprintf("%dx%dx%d", t.Ti, t.Tj, t.Tk)
}

// grid are the tiles that an exhaustive search tries beside none, for a matrix with the given number
// of rows of B: panels from 256 columns on, a factor of about √2 apart, and slices of K of 128, 256, ….
func grid(op Op, gathered, k int) []model.Tile {
	var tiles []model.Tile
	for n := 16; ; n++ {
		width := 1 << (n / 2)
		if n%2 == 1 {
			width += width / 2 // 1, 1½, 2, 3, 4, …
		}
		if width >= gathered {
			return tiles
		}
		tiles = append(tiles, model.Tile{Tj: width})
		for depth := minDepth; op == SDDMM && depth < k; depth *= 2 {
			tiles = append(tiles, model.Tile{Tj: width, Tk: depth})
		}
	}
}

// minDepth is the smallest slice of K.
const minDepth = 128

// gathered is the number of rows of B of a case.
func gathered[T sddmm.Float](m *Matrix[T], c Case) int {
	if c.Op == SpMMT {
		return m.S.Rows
	}
	return m.S.Cols
}
