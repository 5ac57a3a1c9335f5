package kernels

import (
	"embed"
	"fmt"
	"slices"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

const (
	// Threads is the number of threads in a block.
	Threads = 256
	// Run is the number of consecutive non-zeros of a group of lanes.
	Run = 32
	// Loads is the number of loads of 16 bytes of each thread that reads or copies an array.
	Loads = 8
	// BlockElements is the number of elements that a block reads or copies.
	BlockElements = Threads * Loads * 4
	// WarpElements is the number of elements in each sum that Read writes.
	WarpElements = 32 * Loads * 4
)

// Gather is a variant of the kernel that reads rows of B as a pattern asks for them.
type Gather struct {
	Type   string // one of dialect.Types
	Vector int    // elements of a load: 1, or 16 bytes of them
	Lanes  int    // threads that share a row
	Chunks int    // loads of a lane at a time
}

// shapes are the lanes and chunks that there are. Which is fastest depends on the device, the pattern and the length
// of a row: those who want a ceiling try all that Gathers returns.
var shapes = []struct{ lanes, chunks int }{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {8, 2}, {16, 2}, {32, 1}, {32, 4}}

// Gathers returns the variants worth trying for rows of k elements of type t: those whose lanes have something to do
// and that read a row in at most four slices, or else the widest. aligned says that all rows start at multiples of
// 16 bytes.
func Gathers(t string, k int, aligned bool) []Gather {
	vector := 1
	if v := dialect.VectorOf(t); aligned && k%v == 0 {
		vector = v
	}
	loads := k / vector
	var all []Gather
	for _, s := range shapes {
		slice := s.lanes * s.chunks
		if (slice < 2*loads || slice == 1) && loads <= 4*slice {
			all = append(all, Gather{t, vector, s.lanes, s.chunks})
		}
	}
	if all == nil {
		last := shapes[len(shapes)-1]
		all = append(all, Gather{t, vector, last.lanes, last.chunks})
	}
	return all
}

// Name returns the name of the kernel.
func (g Gather) Name() string {
	return fmt.Sprintf("bench_gather_%s_v%d_l%d_c%d", g.Type, g.Vector, g.Lanes, g.Chunks)
}

// Groups returns the number of groups of lanes in a block.
func (g Gather) Groups() int64 { return int64(Threads / g.Lanes) }

// Variant returns the kernel.
func (g Gather) Variant() *dialect.Variant {
	return variant(g.Name(), "gather.h", g.Type, g.Vector,
		dialect.Define{Name: "LANES", Value: g.Lanes},
		dialect.Define{Name: "CHUNKS", Value: g.Chunks},
		dialect.Define{Name: "UNROLL", Value: 8 / g.Chunks},
		dialect.Define{Name: "RUN", Value: Run})
}

// Read returns the kernel that reads an array of floats and writes a sum for every WarpElements of them.
func Read() *dialect.Variant { return stream("bench_read_float", 1) }

// Copy returns the kernel that copies an array of floats.
func Copy() *dialect.Variant { return stream("bench_copy_float", 0) }

func stream(name string, read int) *dialect.Variant {
	return variant(name, "stream.h", "float", 4, dialect.Define{Name: "READ", Value: read}, dialect.Define{Name: "LOADS", Value: Loads})
}

func variant(name, file, t string, vector int, defines ...dialect.Define) *dialect.Variant {
	return &dialect.Variant{
		Name: name, File: file, Files: files, Vectors: true,
		Defines: slices.Concat(dialect.TypeDefines(t),
			[]dialect.Define{{Name: "V", Value: vector}, {Name: "BLOCK_THREADS", Value: Threads}}, defines),
	}
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	all := []*dialect.Variant{Read(), Copy()}
	for _, t := range dialect.Types {
		for _, v := range []int{1, dialect.VectorOf(t)} {
			for _, s := range shapes {
				all = append(all, Gather{t, v, s.lanes, s.chunks}.Variant())
			}
		}
	}
	return all
}
