package kernels

import (
	"embed"
	"fmt"
	"slices"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// StartEvery is the distance between the non-zeros whose rows a kernel is told.
const StartEvery = 32

// Threads is the number of threads in a block, but for Gather and Tile.
const Threads = 256

// GatherThreads is the number of threads in a block of Gather: few, so that registers leave no multiprocessor half empty.
const GatherThreads = 128

// SliceBytes are the bytes of a row in a slice of K: a slice of B with 100 000 rows fits an L2 cache of 50 MB, and L1 holds the same
// slice of more popular rows. A slice costs its index and its sum, 12 bytes a non-zero.
const SliceBytes = 256

// Gather is a variant of the kernels that read rows of B from wherever they are cached.
type Gather struct {
	Type   string // of A and B: one of dialect.Types
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a non-zero
	Chunks int    // loads of a lane that hold a slice of a row
	Pairs  bool   // whether both rows are fetched for each non-zero, as short rows want it
}

// shapes are the lanes and chunks that there are, by rising loads of a slice. Eight lanes with 16 bytes each read a cache
// line at a time.
var shapes = []struct{ lanes, chunks int }{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {8, 2}, {8, 4}, {8, 8}}

// NewGather returns the variant for rows of k elements of type t, of which it does Slice at a time. aligned says that
// all rows of A and B start at multiples of 16 bytes.
func NewGather(t string, k int, aligned, pairs bool) Gather {
	g := Gather{Type: t, Vector: 1, Pairs: pairs}
	if v := dialect.VectorOf(t); aligned && k%v == 0 {
		g.Vector = v
	}
	for _, s := range shapes {
		g.Lanes, g.Chunks = s.lanes, s.chunks
		if k <= g.Slice() || g.Slice()*elemBytes(t) == SliceBytes {
			break
		}
	}
	return g
}

// elemBytes returns the size of an element of type t.
func elemBytes(t string) int { return 16 / dialect.VectorOf(t) }

// Slice returns the elements of a row that are taken at a time.
func (g Gather) Slice() int { return g.Lanes * g.Chunks * g.Vector }

// manySlices is 1 for kernels that rows longer than a slice have; others would be slower for being able to.
func (g Gather) manySlices() int {
	if g == NewGather(g.Type, 1<<20, g.Vector > 1, g.Pairs) {
		return 1
	}
	return 0
}

// Name returns the name of the kernel.
func (g Gather) Name() string {
	kernel := "gather"
	if g.Pairs {
		kernel = "pairs"
	}
	return fmt.Sprintf("sddmm_%s_%s_v%d_l%d_c%d", kernel, g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Warps is the number of warps in a block of Gather.
const Warps = GatherThreads / warp

const warp = 32

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant { return dialect.Once(g, g.variant) }

func (g Gather) variant() *dialect.Variant {
	file, before := "gather.h", []string{"epilogue.h", "slices.h", "dot.h"}
	if g.Pairs {
		file, before = "pairs.h", before[:2]
	}
	v := variant(g.Name(), file, g.Type, GatherThreads,
		dialect.Define{Name: "V", Value: g.Vector},
		dialect.Define{Name: "LANES", Value: g.Lanes},
		dialect.Define{Name: "CHUNKS", Value: g.Chunks},
		dialect.Define{Name: "MANY_SLICES", Value: g.manySlices()},
		dialect.Define{Name: "UNROLL", Value: g.unroll()},
		dialect.Define{Name: "AT_LEAST", Value: g.atLeast()},
		dialect.Define{Name: "START_EVERY", Value: StartEvery})
	v.Vectors, v.Before = true, before
	v.Targets = g.targets()
	return v
}

// targets returns what the kernel is built for: 8.0 has tensor cores for 16 bits, and on 9.0 kernels begin before earlier ones end
// (AFTER_EARLIER). Those for many slices have no code for 9.0 and so do not, for their warps would lose step with each other.
func (g Gather) targets() []dialect.Target {
	all := []dialect.Target{"60"}
	if g.tensor() {
		all = append(all, "80")
	}
	if g.Vector > 1 && g.manySlices() == 0 {
		all = append(all, "90")
	}
	return all
}

// tensor reports whether tensor cores multiply where there are some, as dot.h says.
func (g Gather) tensor() bool { return g.Vector == 8 && g.Lanes >= 4 && !g.Pairs }

// unroll is the number of non-zeros that a group fetches rows for at a time: up to eight loads of a lane, and of pairs of
// rows, and of rows that are widened, no more than four.
func (g Gather) unroll() int {
	n := 8 / g.Chunks
	if g.Pairs || g.Vector == 8 && !g.tensor() {
		n = min(n, 4)
	}
	return n
}

// step is the number of non-zeros that a warp takes at a time, STEP in slices.h.
func (g Gather) step() int { return max(g.Lanes, g.unroll()) * warp / g.Lanes }

// atLeast is the number of blocks that a multiprocessor shall hold: as many as leave a thread the registers that it needs,
// 64 to 96 of 65536 in all.
func (g Gather) atLeast() int {
	short := dialect.VectorOf(g.Type) == 8 // whose row of A is in registers as floats
	switch {
	case g.Type == "double" || g.Chunks > 2 || g.Chunks == 2 && g.Pairs:
		return 5
	case g.Chunks == 2 && g.tensor():
		return 5
	case g.Chunks == 2 && short:
		return 6
	case g.Chunks == 2 || g.Lanes == 8 && short:
		return 7
	}
	return 8
}

// Run returns the number of consecutive non-zeros of a warp, on a device with units multiprocessors: as many warps as it holds
// at a time, or twice as many, and so on, so that all end together. Runs are long enough for the search of a warp's row
// to be a small part of its work, and longer where there are many waves of warps; those of pairs, which search none, are
// shorter.
func (g Gather) Run(nnz int64, units int) int {
	step := int64(g.step())
	return int(step * max(dialect.Blocks(nnz, g.atATime(units)*g.Waves(nnz, units)*step), 1))
}

// Waves returns how many times the warps that run at a time there are with runs of Run.
func (g Gather) Waves(nnz int64, units int) int64 {
	longest := int64(512)
	switch {
	case g.Pairs:
		longest = 128
	case nnz/g.atATime(units) >= 8*1024:
		longest = 1024
	}
	return max(dialect.Blocks(nnz, g.atATime(units)*longest), 1)
}

// atATime is the number of warps that run at a time.
func (g Gather) atATime(units int) int64 { return int64(max(units, 1)*g.atLeast()) * Warps }

// Scale returns the kernel for α = 0.
func Scale(t string) *dialect.Variant { return variant("sddmm_scale_"+t, "scale.h", t, Threads) }

func variant(name, file, t string, threads int, defines ...dialect.Define) *dialect.Variant {
	return &dialect.Variant{
		Name: name, File: file, Files: files,
		Defines: slices.Concat(dialect.TypeDefines(t), []dialect.Define{{Name: "BLOCK_THREADS", Value: threads}}, defines),
	}
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	var all []*dialect.Variant
	for _, t := range []string{"float", "double"} {
		all = append(all, Scale(t), Finish(t))
	}
	for _, t := range dialect.Types {
		if HasDense(t) {
			all = append(all, Dense(t))
		}
		for _, depth := range Depths(t) {
			all = append(all, NewTile(t, depth).Variant())
		}
		for _, pairs := range []bool{false, true} {
			for _, v := range []int{1, dialect.VectorOf(t)} {
				for _, s := range shapes {
					if g := (Gather{t, v, s.lanes, s.chunks, pairs}); g.Slice()*elemBytes(t) <= SliceBytes {
						all = append(all, g.Variant())
					}
				}
			}
		}
	}
	return all
}
