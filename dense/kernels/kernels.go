package kernels

import (
	"embed"
	"fmt"
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
)

// The kernels; the files say what they compute.
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
	RowCGStart   = "rowcgstart"
	RowCGStep    = "rowcgstep"
)

// GramTiles and AddMulTiles are the sizes of tiles, in columns, that Gram and AddMul are compiled for.
var (
	GramTiles   = []int{8, 32, 64}
	AddMulTiles = []int{32, 64}
)

// Gram returns the kernel of Gram for a tile.
func Gram(tile int) string { return fmt.Sprintf("gram%d", tile) }

// GramChunk returns the rows that Gram stages at a time.
func GramChunk(tile int) int { return 4 * Threads / tile }

// AddMul returns the kernel of AddMul for a tile.
func AddMul(tile int) string { return fmt.Sprintf("addmul%d", tile) }

// AddMulRows returns the rows of a block of AddMul.
func AddMulRows(tile int) int { return 64 * Threads / tile }

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
		add := func(kernel, file string, defines ...dialect.Define) {
			all = append(all, &dialect.Variant{
				Name: Name(kernel, size), File: file, Files: files,
				Defines: append([]dialect.Define{{Name: "T", Value: t}, {Name: "BLOCK_THREADS", Value: Threads}, {Name: "UNROLL", Value: Unroll}}, defines...),
			})
		}
		add(Square, "map.h", dialect.Define{Name: "F(x)", Value: "((x) * (x))"})
		add(ExpDigamma, "map.h", dialect.Define{Name: "F(x)", Value: digamma}, dialect.Define{Name: "EXP_DIGAMMA", Value: 1})
		add(Quotient, "quotient.h")
		add(Diagonal, "diagonal.h")
		add(CopyColumn, "copycolumn.h")
		add(SwapColumns, "swapcolumns.h")
		add(Dot, "dot.h")
		add(Dot3, "dot.h", dialect.Define{Name: "WEIGHTED", Value: 1})
		add(WeightedNorm, "norm.h")
		add(ColumnSums, "columnsums.h")
		add(SumParts, "sumparts.h")
		add(RowCGStart, "rowcgstart.h")
		add(RowCGStep, "rowcgstep.h")
		if size == 8 {
			add(Total, "total.h") // of partial sums, which are float64 for either type
		}
		for _, tile := range GramTiles {
			add(Gram(tile), "gram.h", dialect.Define{Name: "TILE", Value: tile})
		}
		for _, tile := range AddMulTiles {
			add(AddMul(tile), "addmul.h", dialect.Define{Name: "TILE", Value: tile})
		}
	}
	for _, s := range shorts {
		add := func(name, from, to, convert string) {
			all = append(all, &dialect.Variant{Name: name, File: "convert.h", Files: files, Defines: []dialect.Define{
				{Name: "FROM", Value: from}, {Name: "TO", Value: to}, {Name: "F(x)", Value: convert},
				{Name: "BLOCK_THREADS", Value: Threads}, {Name: "UNROLL", Value: Unroll},
			}})
		}
		add(Round(s.name), "float", "ushort", s.round)
		add(Widen(s.name), "ushort", "float", s.widen)
	}
	return all
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
