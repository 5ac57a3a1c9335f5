package kernels

import (
	"embed"
	"fmt"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// Threads is the number of threads in a block of every kernel.
const Threads = 64

// Groups are the numbers of lanes that Lanes is made for.
var Groups = []int{1, 2, 4, 8, 16, 32}

// The kernels, named by what they do; see the files for their arguments.
var (
	Fill     = variant("fill", "T", "int")                     // y[i] = value
	Axpy32   = variant("axpy", "T", "float")                   // y[i] = fma(a, x[i], y[i])
	Axpy64   = variant("axpy", "T", "double")                  //
	BlockSum = variant("block_sum", "T", "float")              // sums of blocks, through SHARED memory
	Sum32    = variant("sum_threads", "T", "float")            // sums of groups as large as a block
	Sum64    = variant("sum_threads", "T", "double")           //
	Mirror   = variant("mirror", "T", "float")                 // blocks backwards, through dynamic shared memory
	Convert  = variant("convert", "T", "float")                // half and bfloat16 to float and back
	Quads    = variant("quads", "T", "float")                  // 16 bytes at a time
	Optional = variant("optional", "T", "int")                 // buffers that may be missing
	Echo     = variant("echo", "T", "int")                     // one argument of each kind, written out
	Step     = variant("step", "T", "int")                     // y[i] = 3·y[i] + k, whose order shows
	Take     = variant("take", "T", "int")                     // each thread takes a number
	Target   = variant("target", "T", "int", "60", "80", "90") // which PTX runs
)

// Lanes returns the kernel that adds up groups of lanes, of Groups, for type T, "float" or "double".
func Lanes(t string, lanes int) *dialect.Variant { return groups("lanes", t, lanes) }

// Hand returns the kernel that hands numbers from lane to lane of a group of lanes, of Groups.
func Hand(lanes int) *dialect.Variant { return groups("hand", "int", lanes) }

// ScatterGroups are the numbers of lanes that Scatter is made for.
var ScatterGroups = []int{1, 2, 4, 8}

// Scatter returns the kernel whose lanes, of ScatterGroups, add up a number for each of them.
func Scatter(t string, lanes int) *dialect.Variant { return groups("scatter", t, lanes) }

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	all := []*dialect.Variant{Fill, Axpy32, Axpy64, BlockSum, Sum32, Sum64, Mirror, Convert, Quads, Optional, Echo, Step, Take, Target}
	for _, lanes := range Groups {
		all = append(all, Hand(lanes))
	}
	for _, t := range []string{"float", "double"} {
		for _, lanes := range Groups {
			all = append(all, Lanes(t, lanes))
		}
		for _, lanes := range ScatterGroups {
			all = append(all, Scatter(t, lanes))
		}
	}
	return all
}

// groups returns the kernel of a file for groups of lanes.
func groups(file, t string, lanes int) *dialect.Variant {
	v := variant(file, "T", t)
	v.Name += fmt.Sprintf("_%d", lanes)
	v.Defines = append(v.Defines, dialect.Define{Name: "LANES", Value: lanes})
	return v
}

func variant(file, macro, t string, targets ...dialect.Target) *dialect.Variant {
	return &dialect.Variant{
		Name: "test_" + file + "_" + t, File: file + ".h", Files: files, Targets: targets,
		Defines: []dialect.Define{{Name: macro, Value: t}, {Name: "BLOCK_THREADS", Value: Threads}},
	}
}
