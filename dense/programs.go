package dense

import (
	"unsafe"

	"sddmmkit/dense/kernels"
	"sddmmkit/device"
)

// Operations are some of this package's, for Programs.
type Operations uint8

// The operations, some of which go together.
const (
	ForSquare  Operations = iota // Square
	ForRowCG                     // RowCG
	ForSums                      // Dot, Dot3 and WeightedNorm
	ForGram                      // Gram, AddMul and RepeatDiagonal
	ForColumns                   // CopyColumn and SwapColumns
)

// Programs returns the kernels that GPUs run for operations on matrices of k columns whose rows start at multiples of 16 bytes, for
// device.Prepare.
func Programs[T Float](k int, all ...Operations) []*device.Program {
	isWide := k%vector[T]() == 0
	start, step := rowCGKernels(isWide && wideEnough[T](k), k)
	var programs []*device.Program
	add := func(elem uintptr, names ...string) {
		for _, name := range names {
			if p, err := kernels.Program(kernels.Name(name, int(elem))); err == nil {
				programs = append(programs, p)
			}
		}
	}
	const double = 8
	elem := unsafe.Sizeof(T(0))
	for _, o := range all {
		switch o {
		case ForSquare:
			add(elem, kernels.Square)
		case ForRowCG:
			add(elem, step, start)
			add(double, kernels.Total)
		case ForSums:
			add(elem, kernels.WeightedNorm, kernels.Dot, kernels.Dot3)
			add(double, kernels.Total)
		case ForGram:
			add(elem, addMulKernel(isWide), kernels.Gram(fit(kernels.GramTiles, k)), kernels.Diagonal, kernels.SumParts)
		case ForColumns:
			add(elem, kernels.CopyColumn, kernels.SwapColumns)
		}
	}
	return programs
}
