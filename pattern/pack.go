package pattern

import (
	"context"

	"sddmmkit/device"
	"sddmmkit/model"
)

// Packed returns room for a slice of the rows of A or C in which these follow each other, in memory that r keeps, where a tile has panels read
// them so often that it pays to copy them there before, or back after: model.Packs. Else, and without memory, there is none.
//
// The prefetchers of caches run on behind each piece of a row that lies apart from the next, and bring what no panel of that slice asks for; and such
// pieces share few sets of a cache (ADR 7).
func Packed[T float32 | float64](r *Resident, tile model.Tile, c Columns[T]) (room Columns[T], ok bool, err error) {
	if tile.Tj <= 0 {
		return c, false, nil
	}
	panels, err := r.Panels(tile.Tj)
	if err != nil || !r.packs(int64(len(panels.Segments))) {
		return c, false, err
	}
	c.Stride = c.Hi - c.Lo
	c.Data = kept[T](r, &r.packed, int64(r.Rows)*int64(c.Stride))
	return c, c.Data != nil, nil
}

// packs reports whether rows of A or C are packed where so many segments read them.
func (r *Resident) packs(segments int64) bool {
	_, ok := r.dev.(device.Host)
	return ok && model.Packs(segments, r.Rows)
}

// packedBytes returns how much memory the packed slices of a tile take, with so many segments.
func (r *Resident) packedBytes(tile model.Tile, elemBytes int, segments float64) int64 {
	if tile.Tj <= 0 || !r.packs(int64(segments)) {
		return 0
	}
	return int64(r.Rows) * int64(tile.Tk) * int64(elemBytes)
}

// CopyRows copies columns of the rows of A to those that Packed has returned, or these to the rows of C.
func CopyRows[T float32 | float64](ctx context.Context, r *Resident, to, from Columns[T]) error {
	return copyAll(ctx, r.dev.(device.Host), r.Rows, []Columns[T]{to}, []Columns[T]{from})
}
