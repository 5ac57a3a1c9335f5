package kernels

import (
	"embed"
	"fmt"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// StartEvery is the distance between the non-zeros whose rows a kernel is told.
const StartEvery = 32

// Threads is the number of threads in a block, but for Tile.
const Threads = 256

// Gather is a variant of the kernel that reads rows of B from wherever they are cached.
type Gather struct {
	Type   string // "float" or "double"
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a non-zero
	Chunks int    // loads of a lane that hold a row of A; 0 for rows of any length
}

// shapes are the lanes and chunks that there are, by the loads of a row that they are for.
var shapes = []struct{ loads, lanes, chunks int }{
	{1, 1, 1}, {2, 2, 1}, {4, 4, 1}, {8, 4, 2}, {16, 8, 2}, {32, 8, 4}, {64, 16, 4}, {128, 32, 4}, {256, 32, 8},
}

// NewGather returns the variant for rows of k elements of type t. aligned says that all rows of A and B
// start at multiples of 16 bytes.
func NewGather(t string, k int, aligned bool) Gather {
	g := Gather{Type: t, Vector: 1, Lanes: 32}
	if v := dialect.VectorOf(t); aligned && k%v == 0 {
		g.Vector = v
	}
	for _, s := range shapes {
		if k <= s.loads*g.Vector {
			g.Lanes, g.Chunks = s.lanes, s.chunks
			break
		}
	}
	return g
}

// Name returns the name of the kernel.
func (g Gather) Name() string {
	return fmt.Sprintf("sddmm_gather_%s_v%d_l%d_c%d", g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Groups returns the number of groups of lanes in a block.
func (g Gather) Groups() int64 { return int64(Threads / g.Lanes) }

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant {
	v := variant(g.Name(), "gather.h", g.Type, Threads,
		dialect.Define{Name: "V", Value: g.Vector},
		dialect.Define{Name: "LANES", Value: g.Lanes},
		dialect.Define{Name: "CHUNKS", Value: g.Chunks},
		dialect.Define{Name: "UNROLL", Value: g.unroll()},
		dialect.Define{Name: "START_EVERY", Value: StartEvery})
	v.Vectors, v.Before = true, []string{"epilogue.h"}
	return v
}

// unroll is the number of rows of B that a group fetches at a time: up to eight loads of a lane.
func (g Gather) unroll() int { return min(max(8/max(g.Chunks, 1), 1), g.Lanes) }

// Run returns the number of consecutive non-zeros of a group: short enough for the groups to fill a large GPU, long enough
// for the search of its row to be a small part of its work. The smallest groups have a non-zero for each lane, so that
// neighbours read and write neighbours.
func (g Gather) Run(nnz int64) int {
	if g.Lanes <= 2 {
		return g.Lanes
	}
	run := StartEvery
	for run < 256 && int64(run)*wantThreads < nnz*int64(g.Lanes) {
		run *= 2
	}
	return run
}

// wantThreads are twice the threads that large GPUs hold at a time.
const wantThreads = 1 << 19

// Scale returns the kernel for α = 0.
func Scale(t string) *dialect.Variant { return variant("sddmm_scale_"+t, "scale.h", t, Threads) }

func variant(name, file, t string, threads int, defines ...dialect.Define) *dialect.Variant {
	return &dialect.Variant{
		Name: name, File: file, Files: files,
		Defines: append([]dialect.Define{{Name: "T", Value: t}, {Name: "BLOCK_THREADS", Value: threads}}, defines...),
	}
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	var all []*dialect.Variant
	for _, t := range []string{"float", "double"} {
		all = append(all, Scale(t), Finish(t))
		for _, v := range []int{1, dialect.VectorOf(t)} {
			for _, s := range shapes {
				all = append(all, Gather{t, v, s.lanes, s.chunks}.Variant())
			}
			all = append(all, Gather{t, v, 32, 0}.Variant())
		}
		for _, depth := range Depths(t) {
			all = append(all, NewTile(t, depth).Variant())
		}
	}
	return all
}
