package main

import (
	"context"
	"strings"

	"sddmmkit/backend"
	"sddmmkit/bench"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// tileEvent is the JSON event of one choice of the model.
type tileEvent struct {
	Event     string             `json:"event"` // "tile"
	Op        string             `json:"op"`
	K         int                `json:"k"`
	Type      string             `json:"type"`
	Device    string             `json:"device"`
	Tile      string             `json:"tile"`
	Columns   int                `json:"tile_columns"` // T_j; 0: no panels
	Depth     int                `json:"tile_depth"`   // T_k; 0: all of K
	Predicted number             `json:"predicted_seconds"`
	Untiled   number             `json:"predicted_seconds_untiled"`
	Bytes     map[string]float64 `json:"bytes"` // by level of the memory
	Reason    string             `json:"reason"`
}

// explainTiles says how the operations on a pattern would be tiled on a device, for each K.
func explainTiles(ctx context.Context, a *app, f *infoFlags, p *sparse.Pattern) error {
	if len(f.ks) == 0 {
		return nil
	}
	elem, err := f.elemBytes()
	if err != nil {
		return err
	}
	dev, err := backend.Open(f.device, backend.Options{Threads: f.threads})
	if err != nil {
		return err
	}
	defer dev.Close()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	for _, k := range f.ks {
		for _, op := range []model.Op{model.SDDMM, model.SpMM, model.SpMMT} {
			on := pat
			if op == model.SpMMT {
				t, err := pat.Transpose()
				if err != nil {
					return err
				}
				on = &t.Resident
			}
			c, err := on.Explain(ctx, op, k, elem)
			if err != nil {
				return err
			}
			e := tileEvent{Event: "tile", Op: op.String(), K: k, Type: f.typ, Device: dev.Name(), Tile: bench.TileText(c.Tile), Columns: c.Tile.Tj, Depth: c.Tile.Tk,
				Predicted: number(c.Seconds), Untiled: unknown, Bytes: map[string]float64{}, Reason: c.Reason}
			if len(c.Alternatives) > 0 {
				e.Untiled = number(c.Alternatives[0].Seconds)
			}
			var traffic []string
			for _, l := range c.Levels {
				e.Bytes[l.Name] = l.Bytes
				traffic = append(traffic, l.Name+" "+byteSize(int64(l.Bytes)))
			}
			if a.json {
				a.emit(e)
				continue
			}
			a.printf("\n%s, K = %d, %s on %s: tile %s\n  %s\n  predicted %s, untiled %s; %s\n", e.Op, k, e.Type, e.Device, e.Tile, e.Reason,
				millis(e.Predicted), millis(e.Untiled), strings.Join(traffic, ", "))
		}
	}
	return nil
}

func millis(seconds number) string { return (seconds * 1000).format("%.3g ms") }
