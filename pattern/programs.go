package pattern

import (
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern/kernels"
)

// Programs returns the kernels that a GPU plans with for a pattern of nnz non-zeros, its transpose and values of type T, for
// device.Prepare. Those that are needed first come first.
func Programs[T float32 | float64](nnz int64) []*device.Program {
	if nnz < leastOnGPU { // the host plans
		return dialect.Programs(kernels.Take(dialect.TypeOf[T]()))
	}
	return dialect.Programs(kernels.Starts(), kernels.Digits(), kernels.PartSums(), kernels.Scan(), kernels.Place("int", "long"), kernels.Lower("int"), kernels.Rows(),
		kernels.Take(dialect.TypeOf[T]()), kernels.Probe(), kernels.Count(), kernels.Place("int", "int"), kernels.Inverse(), kernels.ActiveRows(),
		kernels.Cells(), kernels.Entries(), kernels.Lower("long"), kernels.Take("int"), kernels.Pieces())
}
