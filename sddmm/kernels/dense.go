package kernels

import "sddmmkit/internal/dialect"

// Sides of the tiles of Dense: a block of threads holds their products in registers.
const (
	DenseRows = 128
	DenseCols = 224
)

// DenseThreads is the number of threads in a block of Dense.
const DenseThreads = 256

// DenseBytes is the shared memory of a block of Dense: three slices of 128 bytes of the rows of a tile, from a multiple of 1024 on.
const DenseBytes = 3*(DenseRows+DenseCols)*128 + 1024

// DenseBand returns the rows that a block of threads takes, of cells cells with at most rows rows, on a device with units
// multiprocessors: a whole number of tiles, few enough for each multiprocessor to have several bands.
func DenseBand(rows int, cells int64, units int) int {
	const longest, wanted = 8, 8
	tiles := dialect.Blocks(int64(rows), DenseRows) * cells
	return DenseRows * int(min(max(tiles/int64(wanted*max(units, 1)), 1), longest))
}

// HasDense reports whether there is Dense for A and B of type t: for those of 16 bits.
func HasDense(t string) bool { return dialect.VectorOf(t) == 8 }

// dense is what Dense is made of: a type.
type dense string

// Dense returns the kernel that makes all products of rows of A with popular columns and picks those of non-zeros.
func Dense(t string) *dialect.Variant { return dialect.Once(dense(t), dense(t).variant) }

func (d dense) variant() *dialect.Variant {
	t := string(d)
	v := variant("sddmm_dense_"+t, "dense.h", t, DenseThreads,
		dialect.Define{Name: "V", Value: dialect.VectorOf(t)},
		dialect.Define{Name: "ROWS", Value: DenseRows},
		dialect.Define{Name: "COLS", Value: DenseCols})
	v.Vectors = true
	v.Targets = []dialect.Target{"80", "90a"}
	return v
}
