package kernels

import (
	"embed"
	"fmt"
	"slices"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// Threads is the number of threads in a block, but for Gather.Threads.
const Threads = 128

// Line is the bytes of a cache line.
const Line = 128

// StartEvery is the distance between the non-zeros whose rows a kernel is told: runs are multiples of it.
const StartEvery = 32

// Scheme is how non-zeros are shared out among groups of threads. Runs are consecutive non-zeros, equally many of them.
type Scheme int

const (
	InOrder  Scheme = iota // group g has run g
	ByColumn               // groups go through runs in an order that is given; blocks are few and large
	Narrow                 // a block has a run, and its threads take the non-zeros side by side: rows of one element
)

// Gather is a variant of the kernel that reads rows of B from wherever they are cached.
type Gather struct {
	Type   string // of B: one of dialect.Types
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a row of C
	Chunks int    // loads of a lane
	Scheme Scheme
}

const (
	// longRow is the average number of non-zeros of a row from which on slices of 128 bytes are faster than those of 256: more
	// rows of B are in the cache next to a core, which outweighs that indices are read and rows ended twice as often.
	longRow = 128

	// ByColumn has shorter runs, which lie in fewer columns. It is for rows that are longer on average, and from minRuns runs
	// on where these are shorter than longRun.
	maxRunByColumn = 512
	longRun        = 256
	minRuns        = 4
	// mostPlaces are the runs of all slices that ByColumn counts.
	mostPlaces = 1 << 30
)

// Shape is what the choice of a variant depends on.
type Shape struct {
	Rows int // of op(S) and C
	NNZ  int64
	K    int
	// Aligned says that all rows of B and C start at multiples of 16 bytes.
	Aligned bool
	// Lines says that all rows of B start at multiples of Line.
	Lines bool
	// Threads are the most that a block may have; 0 where nobody knows.
	Threads int
}

// NewGather returns the variant for elements of type t.
func NewGather(t string, s Shape) Gather {
	v := dialect.VectorOf(t)
	switch {
	case s.K == 1 && t == "float": // others have not been timed
		return Gather{Type: t, Vector: 1, Lanes: 1, Chunks: 1, Scheme: Narrow}
	case !s.Aligned || s.K%v != 0:
		// Elements one at a time: up to 16 lanes, then two elements a lane.
		g := Gather{Type: t, Vector: 1, Lanes: lanesFor(s.K, 16), Chunks: 1}
		if s.K > 16 {
			g.Chunks = 2
		}
		return g
	}
	if g, ok := byColumn(t, s); ok {
		return g
	}
	most := 16
	if s.NNZ >= longRow*int64(s.Rows) {
		most = 8
	}
	return Gather{Type: t, Vector: v, Lanes: lanesFor(s.K/v, most), Chunks: 1}
}

// byColumn returns the variant of ByColumn for a shape whose rows are vectors, if there is one. Slices of 128 bytes leave most rows
// of B in the cache next to a core, where they are a line each. Otherwise, and with short runs, of which groups begin and end so
// many, 32 lanes are faster, which read indices once for four times as much.
func byColumn(t string, s Shape) (g Gather, ok bool) {
	loads := s.K / dialect.VectorOf(t)
	g = Gather{Type: t, Vector: dialect.VectorOf(t), Lanes: lanesFor(loads, 8), Chunks: 1, Scheme: ByColumn}
	run, atLeast := int64(g.Run(s.NNZ)), int64(1)
	if run < longRun {
		atLeast = minRuns
	}
	if s.NNZ < max(atLeast*run*int64(s.Rows), 1) || s.Threads < g.Threads() || dialect.Blocks(s.NNZ, run)*g.Slices(s.K) > mostPlaces {
		return g, false
	}
	switch {
	case run < longRun:
		g.Lanes, ok = 32, loads >= 32
	case s.Lines:
		ok = g.Lanes == 8
	default:
		g.Lanes, ok = lanesFor(loads, 32), g.Lanes == 8
	}
	return g, ok
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
	names := [...]string{InOrder: "gather", ByColumn: "bycolumn", Narrow: "narrow"}
	return fmt.Sprintf("spmm_%s_%s_v%d_l%d_c%d", names[g.Scheme], g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Slices returns the number of slices that rows of k elements are done in.
func (g Gather) Slices(k int) int64 {
	return dialect.Blocks(int64(k), int64(g.Lanes*g.Chunks*g.Vector))
}

// Threads returns the number of threads in a block.
func (g Gather) Threads() int {
	if g.Scheme == ByColumn {
		return g.atLeast() * Threads // all that a multiprocessor holds: what they read at a time lies together
	}
	return Threads
}

// Groups returns the number of groups in a block.
func (g Gather) Groups() int64 {
	if g.Scheme == Narrow {
		return 1
	}
	return int64(g.Threads() / g.Lanes)
}

// Run returns the number of consecutive non-zeros of a group, a multiple of StartEvery: about as many runs as a large GPU has
// groups at a time, or twice as many, and so on, where runs would be longer than maxRun. A few groups more than that, and most
// of the GPU would wait for them. It depends on the pattern and K alone, and so do sums.
func (g Gather) Run(nnz int64) int {
	lanes, most := g.Lanes, maxRun
	switch g.Scheme {
	case Narrow:
		return narrowRun
	case ByColumn:
		lanes, most = 8, maxRunByColumn // with more lanes groups go on to more runs
	}
	threads := nnz * int64(lanes) // for runs of 1
	atATime := multiprocessors * int64(g.atLeast()) * Threads
	waves := max(dialect.Blocks(threads, atATime*int64(most)), 1)
	return int(max(dialect.Blocks(threads, atATime*waves*StartEvery), 1)) * StartEvery
}

const (
	multiprocessors = 132 // of an H200
	// maxRun is long enough for the rows that are cut at the ends of runs to cost little.
	maxRun = 1024
	// narrowRun is the run of a block of Narrow.
	narrowRun = 1024
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

// Places returns which places, runs of a slice, blocks of ByColumn take, of all places and with a grid of so many blocks: block i
// has those from i·apart to i·apart + within, and groups go on by step. Long runs are for rows of B that L2 may not hold:
// there all blocks stay together. Short ones leave each block to columns of its own.
func (g Gather) Places(nnz, places, grid int64) (apart, within, step int64) {
	if g.Run(nnz) >= longRun {
		return g.Groups(), places, g.Groups() * grid
	}
	apart = dialect.Blocks(places, grid)
	return apart, apart, g.Groups()
}

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant { return dialect.Once(g, g.variant) }

func (g Gather) variant() *dialect.Variant {
	file, defines := "gather.h", []dialect.Define{{Name: "V", Value: g.Vector}, {Name: "CHUNKS", Value: g.Chunks}}
	switch g.Scheme {
	case InOrder:
		defines = append(defines, dialect.Define{Name: "LANES", Value: g.Lanes}, dialect.Define{Name: "AT_LEAST", Value: g.atLeast()})
	case ByColumn:
		defines = append(defines, dialect.Define{Name: "LANES", Value: g.Lanes}, dialect.Define{Name: "AT_LEAST", Value: 1},
			dialect.Define{Name: "BY_COLUMN", Value: 1})
	case Narrow:
		file, defines = "narrow.h", append(defines, dialect.Define{Name: "RUN", Value: g.Run(0)})
	}
	return variant(g.Name(), file, g.Type, g.Threads(), defines...)
}

// Scale returns the kernel for α = 0.
func Scale(t string) *dialect.Variant { return variant("spmm_scale_"+t, "scale.h", t, Threads) }

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
func (p Pieces) Variant() *dialect.Variant { return dialect.Once(p, p.variant) }

func (p Pieces) variant() *dialect.Variant {
	return variant(fmt.Sprintf("spmm_pieces_%s_v%d", p.Type, p.Vector), "pieces.h", p.Type, Threads,
		dialect.Define{Name: "V", Value: p.Vector},
		dialect.Define{Name: "LANES", Value: piecesLanes})
}

func variant(name, file, t string, threads int, defines ...dialect.Define) *dialect.Variant {
	v := &dialect.Variant{
		Name: name, File: file, Files: files,
		Defines: slices.Concat(dialect.TypeDefines(t),
			[]dialect.Define{{Name: "BLOCK_THREADS", Value: threads}, {Name: "START_EVERY", Value: StartEvery}}, defines),
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
		v := dialect.VectorOf(t)
		for _, lanes := range []int{1, 2, 4, 8, 16} {
			all = append(all, Gather{t, v, lanes, 1, InOrder}.Variant())
		}
		for _, lanes := range []int{1, 2, 4, 8, 16} {
			if t == "float" && lanes == 1 {
				all = append(all, Gather{t, 1, 1, 1, Narrow}.Variant())
				continue
			}
			all = append(all, Gather{t, 1, lanes, 1, InOrder}.Variant())
		}
		all = append(all, Gather{t, 1, 16, 2, InOrder}.Variant())
		for _, lanes := range []int{8, 16, 32} {
			all = append(all, Gather{t, v, lanes, 1, ByColumn}.Variant())
		}
	}
	return all
}
