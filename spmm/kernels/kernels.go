package kernels

import (
	"embed"
	"fmt"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// Threads is the number of threads in a block.
const Threads = 128

// StartEvery is the distance between the non-zeros whose rows a kernel is told: runs are multiples of it.
const StartEvery = 32

// Gather is a variant of the kernel that reads rows of B from wherever they are cached.
type Gather struct {
	Type   string // "float" or "double"
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a row of C
	Chunks int    // loads of a lane
}

// shapes are the lanes and chunks that there are, by the loads of a row that they are for; longer rows are
// done in slices of the last.
var shapes = []struct{ loads, lanes, chunks int }{
	{1, 1, 1}, {2, 2, 1}, {4, 4, 1}, {8, 8, 1}, {16, 8, 2}, {32, 16, 2},
}

// NewGather returns the variant for rows of k elements of type t. aligned says that all rows of B and C
// start at multiples of 16 bytes.
func NewGather(t string, k int, aligned bool) Gather {
	g := Gather{Type: t, Vector: 1}
	if v := dialect.VectorOf(t); aligned && k%v == 0 {
		g.Vector = v
	}
	for _, s := range shapes {
		g.Lanes, g.Chunks = s.lanes, s.chunks
		if k <= s.loads*g.Vector {
			break
		}
	}
	return g
}

// Name returns the name of the kernel.
func (g Gather) Name() string {
	return fmt.Sprintf("spmm_gather_%s_v%d_l%d_c%d", g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Slices returns the number of slices that rows of k elements are done in.
func (g Gather) Slices(k int) int64 {
	slice := g.Lanes * g.Chunks * g.Vector
	return int64((k + slice - 1) / slice)
}

// Groups returns the number of groups of lanes in a block.
func (g Gather) Groups() int64 { return int64(Threads / g.Lanes) }

// Run returns the number of consecutive non-zeros of a group: short enough for the groups to fill a large GPU, long enough
// for the rows that are cut at its ends to cost little. It depends on the pattern alone, and so do sums.
func (g Gather) Run(nnz int64) int {
	run := StartEvery
	for run < 1024 && int64(run)*wantThreads < nnz*int64(g.Lanes) {
		run *= 2
	}
	return run
}

// wantThreads are more threads than GPUs hold at a time.
const wantThreads = 1 << 20

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant {
	return variant(g.Name(), "gather.h", g.Type,
		dialect.Define{Name: "V", Value: g.Vector},
		dialect.Define{Name: "LANES", Value: g.Lanes},
		dialect.Define{Name: "CHUNKS", Value: g.Chunks},
		dialect.Define{Name: "UNROLL", Value: 8 / g.Chunks})
}

// Scale returns the kernel for α = 0.
func Scale(t string) *dialect.Variant { return variant("spmm_scale_"+t, "scale.h", t) }

// Pieces returns the kernel that adds up rows in pieces.
func Pieces(t string) *dialect.Variant { return variant("spmm_pieces_"+t, "pieces.h", t) }

func variant(name, file, t string, defines ...dialect.Define) *dialect.Variant {
	return &dialect.Variant{
		Name: name, File: file, Files: files, Vectors: file == "gather.h",
		Defines: append([]dialect.Define{{Name: "T", Value: t}, {Name: "BLOCK_THREADS", Value: Threads}, {Name: "START_EVERY", Value: StartEvery}}, defines...),
	}
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	var all []*dialect.Variant
	for _, t := range []string{"float", "double"} {
		all = append(all, Scale(t), Pieces(t))
		for _, v := range []int{1, dialect.VectorOf(t)} {
			for _, s := range shapes {
				all = append(all, Gather{t, v, s.lanes, s.chunks}.Variant())
			}
		}
	}
	return all
}
