package dense

import (
	"context"
	"unsafe"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// gramOnGPU computes tiles of the lower triangle over ranges of rows, and then adds up the ranges in order. Sums are in
// float64, and products of float32 are exact in it.
func gramOnGPU[T Float](ctx context.Context, l device.Launcher, g, x *Resident[T]) error {
	k := x.Cols
	if k == 0 {
		return ctx.Err()
	}
	tile := fit(kernels.GramTiles, k)
	side := ceil(k, tile)
	pairs := side * (side + 1) / 2
	splits, splitRows := split(x.Rows, kernels.GramChunk(tile), int(max(mostBlocks/pairs, 1)))
	return sumSplits(ctx, l, g, splits, true, func(part *device.Buffer[float64]) error {
		return launch[T](ctx, l, kernels.Gram(tile), pairs*splits, x.Buf.Arg(), long(x.Stride), part.Arg(), long(x.Rows), long(k), long(splitRows))
	})
}

// sumSplits sets dst to the sum over splits matrices of its size, which fill puts one after the other; with symmetric, only
// their lower triangles.
func sumSplits[T Float](ctx context.Context, l device.Launcher, dst *Resident[T], splits int64, symmetric bool, fill func(part *device.Buffer[float64]) error) error {
	n := int64(dst.Rows) * int64(dst.Cols)
	part, err := device.Alloc[float64](l, max(splits*n, 1))
	if err != nil {
		return err
	}
	defer part.Close()
	if splits > 0 {
		if err := fill(part); err != nil {
			return err
		}
	}
	mirrored := int32(0)
	if symmetric {
		mirrored = 1
	}
	return launch[T](ctx, l, kernels.SumParts, ceil(int(n), kernels.Warp),
		dst.Buf.Arg(), long(dst.Stride), part.Arg(), long(dst.Rows), long(dst.Cols), device.Value(splits), device.Value(mirrored))
}

// addMulOnGPU is a tiled product in T. As few tiles as there can be share the columns, and as many threads as
// those need the tile's.
func addMulOnGPU[T Float](ctx context.Context, l device.Launcher, c *Resident[T], alpha T, x, g *Resident[T]) error {
	if c.Rows == 0 || c.Cols == 0 || x.Cols == 0 {
		return ctx.Err()
	}
	isWide := wide(c, x, g)
	kernel := addMulKernel(isWide)
	tiles := ceil(c.Cols, kernels.AddMulMostAcross*kernels.AddMulCols)
	across := int(max(ceil(c.Cols, int(tiles)*kernels.AddMulCols), kernels.AddMulLeastAcross))
	height := kernels.Threads / across * kernels.AddMulHeight(int(unsafe.Sizeof(alpha)), isWide)
	return launch[T](ctx, l, kernel, ceil(c.Rows, height)*ceil(c.Cols, across*kernels.AddMulCols),
		c.Buf.Arg(), long(c.Stride), device.Value(alpha), x.Buf.Arg(), long(x.Stride), g.Buf.Arg(), long(g.Stride),
		long(c.Rows), long(x.Cols), long(c.Cols), device.Value(int32(across)))
}

func addMulKernel(wide bool) string {
	if wide {
		return kernels.AddMulWide
	}
	return kernels.AddMul
}

// fit returns the smallest tile that holds cols columns, or else the largest.
func fit(tiles []int, cols int) int {
	for _, t := range tiles {
		if cols <= t {
			return t
		}
	}
	return tiles[len(tiles)-1]
}
