package kernels

import (
	"embed"
	"fmt"
	"slices"

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
	Type   string // of B: one of dialect.Types
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a row of C
	Chunks int    // loads of a lane
}

// longRow is the average number of non-zeros of a row from which on slices of 128 bytes are faster than those of 256: more
// rows of B are in the cache next to a core, which outweighs that indices are read and rows ended twice as often.
const longRow = 128

// Shape is what the choice of a variant depends on.
type Shape struct {
	Rows int // of op(S) and C
	NNZ  int64
	K    int
	// Aligned says that all rows of B and C start at multiples of 16 bytes.
	Aligned bool
}

// NewGather returns the variant for elements of type t.
func NewGather(t string, s Shape) Gather {
	v := dialect.VectorOf(t)
	if !s.Aligned || s.K%v != 0 {
		// Elements one at a time: up to 16 lanes, then two elements a lane.
		g := Gather{Type: t, Vector: 1, Lanes: lanesFor(s.K, 16), Chunks: 1}
		if s.K > 16 {
			g.Chunks = 2
		}
		return g
	}
	most := 16
	if s.NNZ >= longRow*int64(s.Rows) {
		most = 8
	}
	return Gather{Type: t, Vector: v, Lanes: lanesFor(s.K/v, most), Chunks: 1}
}

// lanesFor returns the lanes for a row of loads, a power of two up to most.
func lanesFor(loads, most int) int {
	lanes := 1
	for lanes < most && lanes < loads {
		lanes *= 2
	}
	return lanes
}

// Name returns the name of the kernel.
func (g Gather) Name() string {
	return fmt.Sprintf("spmm_gather_%s_v%d_l%d_c%d", g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Slices returns the number of slices that rows of k elements are done in.
func (g Gather) Slices(k int) int64 {
	return dialect.Blocks(int64(k), int64(g.Lanes*g.Chunks*g.Vector))
}

// Groups returns the number of groups of lanes in a block.
func (g Gather) Groups() int64 { return int64(Threads / g.Lanes) }

// Run returns the number of consecutive non-zeros of a group, a multiple of StartEvery: about as many runs as a large GPU has
// groups at a time, or twice as many, and so on, where runs would be longer than maxRun. A few groups more than that, and most
// of the GPU would wait for them. It depends on the pattern and K alone, and so do sums.
func (g Gather) Run(nnz int64) int {
	threads := nnz * int64(g.Lanes) // for runs of 1
	atATime := multiprocessors * int64(g.atLeast()) * Threads
	waves := max(dialect.Blocks(threads, atATime*maxRun), 1)
	return int(max(dialect.Blocks(threads, atATime*waves*StartEvery), 1)) * StartEvery
}

const (
	multiprocessors = 132 // of an H200
	// maxRun is long enough for the rows that are cut at the ends of runs to cost little.
	maxRun = 1024
)

// atLeast returns the number of blocks that a multiprocessor holds; registers limit it.
func (g Gather) atLeast() int {
	n := 7
	if g.Lanes == 1 {
		n--
	}
	switch g.Type {
	case "double":
		return 5
	case "bfloat16", "float16":
		n-- // for C has twice the registers
	}
	return n
}

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant {
	return variant(g.Name(), "gather.h", g.Type,
		dialect.Define{Name: "V", Value: g.Vector},
		dialect.Define{Name: "LANES", Value: g.Lanes},
		dialect.Define{Name: "CHUNKS", Value: g.Chunks},
		dialect.Define{Name: "AT_LEAST", Value: g.atLeast()})
}

// Scale returns the kernel for α = 0.
func Scale(t string) *dialect.Variant { return variant("spmm_scale_"+t, "scale.h", t) }

// Pieces is a variant of the kernel that adds up rows in pieces.
type Pieces struct {
	Type   string
	Vector int
}

// Pieces returns the kernel that adds up the rows that g leaves in pieces, of the type of sums.
func (g Gather) Pieces() Pieces {
	t := dialect.SumType(g.Type)
	return Pieces{t, min(g.Vector, dialect.VectorOf(t))}
}

// Rows returns the number of rows that a block does a slice of.
func (Pieces) Rows() int64 { return Threads / piecesLanes }

// Slices returns the number of slices that rows of k elements are done in.
func (p Pieces) Slices(k int) int64 { return dialect.Blocks(int64(k), int64(piecesLanes*p.Vector)) }

const piecesLanes = 8

// Variant returns the kernel.
func (p Pieces) Variant() *dialect.Variant {
	return variant(fmt.Sprintf("spmm_pieces_%s_v%d", p.Type, p.Vector), "pieces.h", p.Type,
		dialect.Define{Name: "V", Value: p.Vector},
		dialect.Define{Name: "LANES", Value: piecesLanes})
}

func variant(name, file, t string, defines ...dialect.Define) *dialect.Variant {
	v := &dialect.Variant{
		Name: name, File: file, Files: files,
		Defines: slices.Concat(dialect.TypeDefines(t),
			[]dialect.Define{{Name: "BLOCK_THREADS", Value: Threads}, {Name: "START_EVERY", Value: StartEvery}}, defines),
	}
	if file != "scale.h" {
		v.Vectors, v.Before = true, []string{"put.h"}
	}
	return v
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	var all []*dialect.Variant
	for _, t := range []string{"float", "double"} {
		all = append(all, Scale(t))
		for _, v := range []int{1, dialect.VectorOf(t)} {
			all = append(all, Pieces{t, v}.Variant())
		}
	}
	for _, t := range dialect.Types {
		for _, lanes := range []int{1, 2, 4, 8, 16} {
			all = append(all, Gather{t, dialect.VectorOf(t), lanes, 1}.Variant(), Gather{t, 1, lanes, 1}.Variant())
		}
		all = append(all, Gather{t, 1, 16, 2}.Variant())
	}
	return all
}
