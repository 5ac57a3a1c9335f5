package kernels

import (
	"fmt"
	"slices"

	"sddmmkit/internal/dialect"
)

// Tile is a variant of the kernel that reads rows of B from shared memory, a slice of them at a time.
type Tile struct {
	Type    string // of A and B: one of dialect.Types
	Lanes   int    // threads that share a non-zero
	Chunks  int    // loads of a lane, 16 bytes each, that hold a slice of a row
	Threads int    // in a block
}

// tileThreads is the number of threads in a block, of which a multiprocessor holds one: all that it can run.
const tileThreads = 1024

// tiles are the variants that there are, by the bytes of a slice.
var tiles = []struct{ bytes, chunks int }{{128, 1}, {256, 2}, {512, 4}, {1024, 8}}

// Depths returns the numbers of elements of type t that slices may have. Rows of A are in registers as the numbers that
// kernels compute with, and so slices of 16 bits are shorter.
func Depths(t string) []int {
	var all []int
	for _, s := range tiles {
		if registers := s.bytes / elemBytes(t) * elemBytes(dialect.SumType(t)); registers <= 1024 {
			all = append(all, s.bytes/elemBytes(t))
		}
	}
	return all
}

// NewTile returns the variant for slices of depth elements of type t, which are among Depths(t). Eight lanes read a cache line at a time. Fewer
// would exchange less, but what limits the kernel is the number of lines that pass through L1. In the longest slices 16 leave floats
// more registers; for other types they are slower.
func NewTile(t string, depth int) Tile {
	v := Tile{Type: t, Lanes: 8, Chunks: tiles[slices.Index(Depths(t), depth)].chunks, Threads: tileThreads}
	if t == "float" && v.Chunks == 8 {
		v.Lanes, v.Chunks = 16, 4
	}
	return v
}

// Name returns the name of the kernel.
func (t Tile) Name() string {
	return fmt.Sprintf("sddmm_tile_%s_l%d_c%d_t%d", t.Type, t.Lanes, t.Chunks, t.Threads)
}

// Variant returns the kernel.
func (t Tile) Variant() *dialect.Variant { return dialect.Once(t, t.variant) }

func (t Tile) variant() *dialect.Variant {
	v := variant(t.Name(), "tile.h", t.Type, t.Threads,
		dialect.Define{Name: "V", Value: dialect.VectorOf(t.Type)},
		dialect.Define{Name: "LANES", Value: t.Lanes},
		dialect.Define{Name: "CHUNKS", Value: t.Chunks})
	v.Vectors = true
	return v
}

// FinishPiece is the most non-zeros that a block of Finish has.
const FinishPiece = 8 * Threads

// finish is what Finish is made of: a type.
type finish string

// Finish returns the kernel that computes values from the dot products of Tile and Dense.
func Finish(t string) *dialect.Variant { return dialect.Once(finish(t), finish(t).variant) }

func (f finish) variant() *dialect.Variant {
	t := string(f)
	v := variant("sddmm_finish_"+t, "finish.h", t, Threads, dialect.Define{Name: "PIECE", Value: FinishPiece})
	v.Before = []string{"epilogue.h"}
	return v
}
