package kernels

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
)

//go:embed *.h ptx
var files embed.FS

// Sizes that kernels are compiled with and launches need.
const (
	Threads = 256 // in a block
	Unroll  = 4   // rows, or elements, that a thread of a row-wise kernel takes at a time
	Warp    = 32  // the dialect's WARP

	// AddMul: the columns of a thread, and how many threads there are across a block's tile.
	AddMulCols                          = 8
	AddMulLeastAcross, AddMulMostAcross = 8, 16
)

// The kernels; the files say what they compute. Those of wide rows load and store 16 bytes at a time: rows start at
// multiples of that, and have a whole number of such loads.
const (
	Square       = "square"
	ExpDigamma   = "expdigamma"
	Quotient     = "quotient"
	Diagonal     = "diagonal"
	CopyColumn   = "copycolumn"
	SwapColumns  = "swapcolumns"
	Dot          = "dot"
	Dot3         = "dot3"
	WeightedNorm = "norm"
	Total        = "total"
	ColumnSums   = "columnsums"
	SumParts     = "sumparts"
	AddMul       = "addmul"
	AddMulWide   = "addmul_wide"

	RowCGStart     = "rowcgstart"
	RowCGStartWide = "rowcgstart_wide"
	RowCGStep      = "rowcgstep" // of rows that a block holds in registers
	RowCGStepWide  = "rowcgstep_wide"
	RowCGStepLong  = "rowcgstep_long" // of longer ones
)

// GramTiles are the sizes of tiles, in columns, that Gram is compiled for.
var GramTiles = []int{8, 32, 64}

// tensorTile is the one that has tensor cores work on it where they can.
const tensorTile = 64

// Gram returns the kernel of Gram for a tile.
func Gram(tile int) string { return fmt.Sprintf("gram%d", tile) }

// GramChunk returns the rows that Gram stages at a time.
func GramChunk(tile int) int { return 4 * Threads / tile }

// AddMulHeight returns the rows of a thread of AddMul, or AddMulWide: more only where registers are left for them.
func AddMulHeight(size int, wide bool) int {
	if wide && size == 4 {
		return 8
	}
	return 4
}

// Name returns the name of a kernel for elements of the given size in bytes: 4 for float32, 8 for float64.
func Name(kernel string, size int) string { return fmt.Sprintf("dense_%s_f%d", kernel, 8*size) }

// Round and Widen return the kernels that convert float32 to a type of 16 bits, "bfloat16" or "float16", and back.
func Round(t string) string { return "dense_round_" + t }
func Widen(t string) string { return "dense_widen_" + t }

// shorts are the types of 16 bits, and the macros that convert from and to them.
var shorts = []struct{ name, round, widen string }{
	{"bfloat16", "FLOAT_TO_BFLOAT(x)", "BFLOAT_TO_FLOAT(x)"},
	{"float16", "FLOAT_TO_HALF(x)", "HALF_TO_FLOAT(x)"},
}

// Variants returns all kernels for all types.
func Variants() []*dialect.Variant {
	var all []*dialect.Variant
	for _, size := range []int{4, 8} {
		t, digamma := "float", "exp_digamma_4(x)"
		if size == 8 {
			t, digamma = "double", "exp_digamma_10(x)"
		}
		wide := dialect.VectorOf(t)
		add := func(kernel string, files []string, defines define) {
			all = append(all, variant(Name(kernel, size), files, defines.with(define{"T": t, "BLOCK_THREADS": Threads})))
		}
		// A row-wise kernel of one file.
		rowwise := func(kernel, file string, defines define) {
			add(kernel, []string{file}, defines.with(define{"UNROLL": Unroll}))
		}
		rowwise(Square, "map.h", define{"F(x)": "((x) * (x))"})
		rowwise(ExpDigamma, "map.h", define{"F(x)": digamma, "EXP_DIGAMMA": 1})
		rowwise(Quotient, "quotient.h", nil)
		rowwise(Diagonal, "diagonal.h", nil)
		rowwise(CopyColumn, "copycolumn.h", nil)
		rowwise(SwapColumns, "swapcolumns.h", nil)
		rowwise(Dot, "dot.h", nil)
		rowwise(Dot3, "dot.h", define{"WEIGHTED": 1})
		rowwise(WeightedNorm, "norm.h", nil)
		rowwise(ColumnSums, "columnsums.h", nil)
		rowwise(SumParts, "sumparts.h", nil)
		if size == 8 {
			rowwise(Total, "total.h", nil) // of partial sums, which are float64 for either type
		}
		for _, tile := range GramTiles {
			rowwise(Gram(tile), "gram.h", define{"TILE": tile})
			if tile == tensorTile {
				all[len(all)-1].Targets = []dialect.Target{"60", "90"}
			}
		}

		start, step := []string{"wide.h", "rowcg.h", "rowcgstart.h"}, []string{"wide.h", "rowcg.h", "rowcgstep.h"}
		add(RowCGStart, start, define{"W": wide, "V": 1, "UNROLL": Unroll, "HELD": 0})
		add(RowCGStartWide, start, define{"W": wide, "V": wide, "UNROLL": 1, "HELD": 0})
		add(RowCGStep, step, define{"W": wide, "V": 1, "UNROLL": Unroll, "HELD": 1})
		add(RowCGStepWide, step, define{"W": wide, "V": wide, "UNROLL": 1, "HELD": 1})
		add(RowCGStepLong, step, define{"W": wide, "V": 1, "UNROLL": Unroll, "HELD": 0})

		product := func(kernel string, v int, isWide bool) {
			add(kernel, []string{"wide.h", "addmul.h"}, define{"W": wide, "V": v, "HEIGHT": AddMulHeight(size, isWide), "COLS": AddMulCols,
				"LEAST_ACROSS": AddMulLeastAcross, "MOST_ACROSS": AddMulMostAcross})
		}
		product(AddMul, 1, false)
		product(AddMulWide, wide, true)
	}
	for _, s := range shorts {
		add := func(name, from, to, convert string) {
			all = append(all, variant(name, []string{"convert.h"},
				define{"FROM": from, "TO": to, "F(x)": convert, "BLOCK_THREADS": Threads, "UNROLL": Unroll}))
		}
		add(Round(s.name), "float", "ushort", s.round)
		add(Widen(s.name), "ushort", "float", s.widen)
	}
	return all
}

// define are macros by name.
type define map[string]any

// with returns both.
func (d define) with(more define) define {
	all := maps.Clone(more)
	maps.Copy(all, d)
	return all
}

// variant is a kernel in the last of the files, which the others precede.
func variant(name string, of []string, defines define) *dialect.Variant {
	v := &dialect.Variant{Name: name, File: of[len(of)-1], Files: files, Before: of[:len(of)-1]}
	for _, d := range slices.Sorted(maps.Keys(defines)) {
		v.Defines = append(v.Defines, dialect.Define{Name: d, Value: defines[d]})
	}
	return v
}

// programs are all kernels by name.
var programs = sync.OnceValues(func() (map[string]*device.Program, error) {
	all := map[string]*device.Program{}
	for _, v := range Variants() {
		p, err := v.Program()
		if err != nil {
			return nil, err
		}
		all[v.Name] = p
	}
	return all, nil
})

// Program returns the kernel of that Name.
func Program(name string) (*device.Program, error) {
	all, err := programs()
	if err != nil {
		return nil, err
	}
	p := all[name]
	if p == nil {
		return nil, fmt.Errorf("there is no kernel %s", name)
	}
	return p, nil
}
