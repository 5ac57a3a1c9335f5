package kernels

import (
	"embed"

	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// Sizes that kernels are compiled with and launches need.
const (
	Threads    = 256          // in a block
	Warps      = Threads / 32 // in a block, each of which has a chunk of keys
	Step       = 32 * each    // keys; what chunks are multiples of
	DigitBits  = 6            // most bits of a digit: with more, places lie too far apart for a cache to join writes
	ScanTile   = 4 * Threads  // numbers; what shares of a running sum are multiples of
	StartEvery = 32           // pattern.StartEvery: the distance between the non-zeros whose rows Starts writes
	Align      = 16           // tiling.SharedAlign: what places of cells are multiples of
	ProbeRow   = 16 * 32      // bytes of a row that Probe reads
	ProbeRows  = 64           // of a warp

	ActiveRowsMost = 32 // rows of a block of ActiveRows: a bit each

	each = 8 // keys, or rows, that a lane has on their way
)

// The kernels for integers of one size; the files say what they compute.
func Count() *dialect.Variant    { return variant("count", "count.h") }
func PartSums() *dialect.Variant { return variant("partsums", "partsums.h") }
func Scan() *dialect.Variant     { return variant("scan", "scan.h") }
func Digits() *dialect.Variant   { return variant("digits", "digits.h", digits...) }
func Inverse() *dialect.Variant  { return variant("inverse", "inverse.h") }
func Pieces() *dialect.Variant   { return variant("pieces", "pieces.h") }
func ActiveRows() *dialect.Variant {
	return variant("activerows", "activerows.h", dialect.Define{Name: "ROWS", Value: ActiveRowsMost})
}
func Starts() *dialect.Variant { return rowsVariant("starts", "starts.h") }
func Rows() *dialect.Variant   { return rowsVariant("rows", "rows.h") }
func Cells() *dialect.Variant  { return rowsVariant("cells", "cells.h") }
func Entries() *dialect.Variant {
	return rowsVariant("entries", "entries.h", dialect.Define{Name: "ALIGN", Value: Align})
}
func Probe() *dialect.Variant {
	return variant("probe", "probe.h", dialect.Define{Name: "ROWS", Value: ProbeRows}, dialect.Define{Name: "EACH", Value: each})
}

// Place moves values with their keys, and makes type to, "int" or "long", of type from.
func Place(from, to string) *dialect.Variant {
	return variant(name("place_"+from+"_"+to), "place.h", append([]dialect.Define{{Name: "FROM", Value: from}, {Name: "VALUE", Value: to}}, digits...)...)
}

// Lower searches sorted numbers of type t, "int" or "long".
func Lower(t string) *dialect.Variant {
	return variant(name("lower_"+t), "lower.h", dialect.Define{Name: "T", Value: t})
}

// Take takes values of type t, "float", "double" or "int".
func Take(t string) *dialect.Variant {
	return variant(name("take_"+t), "take.h", dialect.Define{Name: "T", Value: t})
}

var digits = []dialect.Define{{Name: "BINS", Value: 1 << DigitBits}, {Name: "EACH", Value: each}}

// name is a kernel among dialect.Once's keys.
type name string

// variant returns the kernel of that name, which is put together once.
func variant(n name, file string, defines ...dialect.Define) *dialect.Variant {
	return dialect.Once(n, func() *dialect.Variant { return newVariant(n, file, defines) })
}

// rowsVariant is variant for kernels that look for rows of non-zeros.
func rowsVariant(n name, file string, defines ...dialect.Define) *dialect.Variant {
	return dialect.Once(n, func() *dialect.Variant {
		v := newVariant(n, file, defines)
		v.Before = []string{"rowof.h"}
		v.Defines = append(v.Defines, dialect.Define{Name: "START_EVERY", Value: StartEvery})
		return v
	})
}

func newVariant(n name, file string, defines []dialect.Define) *dialect.Variant {
	return &dialect.Variant{
		Name: "pattern_" + string(n), File: file, Files: files,
		Defines: append([]dialect.Define{{Name: "BLOCK_THREADS", Value: Threads}}, defines...),
	}
}

// Variants returns all kernels.
func Variants() []*dialect.Variant {
	all := []*dialect.Variant{Count(), PartSums(), Scan(), Digits(), Inverse(), Pieces(), ActiveRows(), Starts(), Rows(), Cells(), Entries(), Probe()}
	for _, t := range []string{"int", "long"} {
		all = append(all, Place(t, t), Lower(t))
	}
	all = append(all, Place("int", "long"))
	for _, t := range []string{"float", "double", "int"} {
		all = append(all, Take(t))
	}
	return all
}
