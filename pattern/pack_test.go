package pattern_test

import (
	"context"
	"slices"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
)

// Slices of A are copied to rows that follow each other where panels read each twice, and those of C back from there; other tiles leave
// them where they are, and so do calls without memory.
func TestPacked(t *testing.T) {
	const rows, cols, stride = 700, 96, 305
	ctx := context.Background()
	data := make([]float64, rows*stride)
	for i := range data {
		data[i] = float64(i)
	}
	for _, c := range []struct {
		name   string
		dev    device.Device
		tile   model.Tile
		lo, hi int
		packed bool
	}{
		{"two panels", cpu.New(2), model.Tile{Tj: 48, Tk: 64}, 64, 128, true},
		{"the last slice", cpu.New(1), model.Tile{Tj: 7, Tk: 64}, 256, 300, true},
		{"one panel", cpu.New(2), model.Tile{Tj: 96, Tk: 64}, 64, 128, false},
		{"no panels", cpu.New(2), model.Tile{Tk: 64}, 64, 128, false},
		{"no memory", noMemory{cpu.New(2)}, model.Tile{Tj: 32, Tk: 64}, 64, 128, false},
		{"a device that computes itself", conformance.Remote(cpu.New(2)), model.Tile{Tj: 32, Tk: 64}, 64, 128, false},
	} {
		r := upload(t, c.dev, full(rows, cols))
		before := c.dev.Usage().Bytes
		from := pattern.Columns[float64]{Lo: c.lo, Hi: c.hi, Data: data[c.lo:], Stride: stride}
		room, ok, err := pattern.Packed(r, c.tile, from)
		if err != nil || ok != c.packed {
			t.Errorf("%s: packed is %v (%v)", c.name, ok, err)
		}
		if !ok {
			if got := c.dev.Usage().Bytes; got != before {
				t.Errorf("%s: %d bytes are kept", c.name, got-before)
			}
			continue
		}
		width := c.hi - c.lo
		if room.Stride != width || len(room.Data) != rows*width || room.Lo != c.lo || room.Hi != c.hi {
			t.Fatalf("%s: columns [%d, %d), %d elements with a stride of %d", c.name, room.Lo, room.Hi, len(room.Data), room.Stride)
		}
		if err := pattern.CopyRows(ctx, r, room, from); err != nil {
			t.Fatal(err)
		}
		back := make([]float64, rows*stride)
		if err := pattern.CopyRows(ctx, r, pattern.Columns[float64]{Lo: c.lo, Hi: c.hi, Data: back[c.lo:], Stride: stride}, room); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			want := make([]float64, stride) // and nothing beside the columns
			copy(want[c.lo:c.hi], data[i*stride+c.lo:])
			if got := room.Data[i*width:][:width]; !slices.Equal(got, want[c.lo:c.hi]) {
				t.Fatalf("%s: row %d is %v…", c.name, i, got[:2])
			}
			if !slices.Equal(back[i*stride:][:stride], want) {
				t.Fatalf("%s: row %d comes back as something else", c.name, i)
			}
		}
		kept := c.dev.Usage().Bytes
		if again, _, _ := pattern.Packed(r, c.tile, from); &again.Data[0] != &room.Data[0] || c.dev.Usage().Bytes != kept {
			t.Errorf("%s: the next slice has memory of its own", c.name)
		}
		stop, cancel := context.WithCancel(ctx)
		cancel()
		if pattern.CopyRows(stop, r, room, from) == nil {
			t.Errorf("%s: copied after the end of its context", c.name)
		}
		open := c.dev.Usage().Bytes
		if r.Close(); open-c.dev.Usage().Bytes < int64(rows*width*8) {
			t.Errorf("%s: the memory outlives the pattern", c.name)
		}
	}
}
