package bench

import (
	"context"
	"fmt"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sddmm"
)

// Search is what an exhaustive search for a tile found.
type Search struct {
	Tried        int     `json:"tried"` // tiles
	ModelTile    string  `json:"model_tile"`
	ModelSeconds float64 `json:"model_seconds"` // the median with the plan's own choice
	Loss         float64 `json:"loss"`          // ModelSeconds over the best median, less 1
	Tiles        []Trial `json:"tiles"`
}

// Trial is one tile of the search.
type Trial struct {
	Tile    string  `json:"tile"`
	Seconds float64 `json:"seconds"` // the median of a short measurement
}

// shorter is by how much the measurement of each tile in a search is shorter than others.
const shorter = 4

// hopeless is how many times as long as the best a tile may take before the search turns to the next.
const hopeless = 1.5

// search tries every tile of the grid with short measurements, and measures the fastest again beside the
// plan's own choice, in turns and with full measurements: the fastest of many noisy ones looks faster
// than it is. When the plan's own choice is as fast or faster then, it is the best.
func search[T sddmm.Float](ctx context.Context, dev device.Device, p *problem[T], opt Options) (*Record, error) {
	brief := opt
	brief.Warmups, brief.Samples, brief.Seconds = 1, max(opt.Samples/shorter, 3), opt.Seconds/shorter
	found := &Search{}
	var best model.Tile
	least := 0.0
	for _, tile := range append([]model.Tile{{}}, grid(p.c.Op, gathered(p.m, p.c), p.c.K)...) {
		rec, err := runOne(ctx, dev, p, Tiling{By: TileGiven, Tile: tile}, brief)
		if err != nil {
			return nil, fmt.Errorf("tile %s: %w", tileText(tile), err)
		}
		found.Tried++
		found.Tiles = append(found.Tiles, Trial{tileText(tile), rec.Median})
		if least == 0 || rec.Median < least {
			best, least = tile, rec.Median
			brief.hopeless = hopeless * least
		}
	}
	var own, given *Record
	for range 2 {
		for _, side := range []struct {
			rec    **Record
			tiling Tiling
		}{{&own, Tiling{By: TileByModel}}, {&given, Tiling{By: TileGiven, Tile: best}}} {
			rec, err := runOne(ctx, dev, p, side.tiling, opt)
			if err != nil {
				return nil, err
			}
			if *side.rec != nil {
				rec.add(*side.rec)
			}
			*side.rec = rec
		}
	}
	rec := given
	if own.Median <= given.Median {
		rec = own
	}
	found.ModelTile, found.ModelSeconds, found.Loss = own.Tile, own.Median, own.Median/rec.Median-1
	rec.Search, rec.TileBy = found, TileBySearch
	return rec, nil
}
