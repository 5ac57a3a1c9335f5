package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sddmmkit/bench/record"
	"sddmmkit/model"
	"sddmmkit/sddmm"
)

// TileBy says what chooses the tile of a case.
type TileBy = record.TileBy

// The ways to choose a tile.
const (
	TileByModel  = record.TileByModel
	TileNone     = record.TileNone
	TileGiven    = record.TileGiven // Tiling.Tile
	TileBySearch = record.TileBySearch
)

// Tiling is how the tile of a case is chosen. The zero value leaves it to the plan.
type Tiling struct {
	By   TileBy
	Tile model.Tile // for TileGiven
}

// fixed says that the plan is told its tile.
func (t Tiling) fixed() bool { return t.By == TileNone || t.By == TileGiven }

// OnCPU reports whether the tile, if one is given, is one that CPU paths can have for elements of elemBytes bytes.
func (t Tiling) OnCPU(elemBytes int) bool {
	return t.Tile.Ti == 0 && t.Tile.Tk*elemBytes%model.SliceBytes == 0 && t.Tile.Panels == 0 && t.Tile.Dense == 0
}

// ParseTiling reads none, model, exhaustive, or a tile as TixTjxTk: rows, columns and depth, each a number or 0 for
// all, and on GPUs as TixTjxTkxPANELS too: how many panels of Tj columns are kept in shared memory, and TixTjxTkxPANELSxDENSE: how many of these are
// dense tiles.
func ParseTiling(text string) (Tiling, error) {
	switch by := TileBy(text); by {
	case TileByModel, TileNone, TileBySearch:
		return Tiling{By: by}, nil
	}
	bad := fmt.Errorf("tile %q: want none, model, exhaustive or TixTjxTk such as 0x4096x128, where 0 means all; on GPUs also TixTjxTkxPANELS and TixTjxTkxPANELSxDENSE", text)
	parts := strings.Split(text, "x")
	if len(parts) < 3 || len(parts) > 5 {
		return Tiling{}, bad
	}
	var n [5]int
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 32)
		if err != nil || v < 0 {
			return Tiling{}, bad
		}
		n[i] = int(v)
	}
	return Tiling{By: TileGiven, Tile: model.Tile{Ti: n[0], Tj: n[1], Tk: n[2], Panels: n[3], Dense: n[4]}}, nil
}

// TileText writes a tile as ParseTiling reads it.
func TileText(t model.Tile) string {
	if t == (model.Tile{}) {
		return "none"
	}
	text := fmt.Sprintf("%dx%dx%d", t.Ti, t.Tj, t.Tk)
	if t.Panels > 0 {
		text += fmt.Sprintf("x%d", t.Panels)
	}
	if t.Dense > 0 {
		text += fmt.Sprintf("x%d", t.Dense)
	}
	return text
}

// coarse are the widths of panels that a search tries, for a matrix with the given number of rows of B: a
// factor of two apart, from the widest down to 256.
func coarse(gathered int) []model.Tile {
	var tiles []model.Tile
	for width := minWidth; width < gathered; width *= 2 {
		tiles = append(tiles, model.Tile{Tj: width})
	}
	slices.Reverse(tiles)
	return tiles
}

// finer are the tiles next to the best of the coarse ones: widths between it and its neighbours.
func finer(best model.Tile, gathered int) []model.Tile {
	if best.Tj == 0 {
		// Better than the widest panels: there may be better ones that are wider still.
		if widest := coarse(gathered); len(widest) > 0 && widest[0].Tj/2*3 < gathered {
			return []model.Tile{{Tj: widest[0].Tj / 2 * 3, Tk: best.Tk}}
		}
		return nil
	}
	var tiles []model.Tile
	for _, width := range []int{best.Tj / 4 * 3, best.Tj / 2 * 3} {
		if width >= minWidth && width < gathered {
			tiles = append(tiles, model.Tile{Tj: width, Tk: best.Tk})
		}
	}
	return tiles
}

// minWidth is the narrowest panel that a search tries.
const minWidth = 256

// gathered is the number of rows of B of a case.
func gathered[T sddmm.Float](m *Matrix[T], c Case) int {
	if c.Op == SpMMT {
		return m.S.Rows
	}
	return m.S.Cols
}
