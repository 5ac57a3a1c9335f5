package spmm

import (
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/spmm/kernels"
)

// Programs returns the kernels that a GPU runs for a pattern of op(S) with rows rows and nnz non-zeros, and matrices of k columns whose
// rows start at multiples of 16 bytes, for device.Prepare.
func Programs[T Float](rows int, nnz int64, k int) []*device.Program {
	v := kernels.NewGather(dialect.TypeOf[T](), kernels.Shape{Rows: rows, NNZ: nnz, K: k, Aligned: true})
	return dialect.Programs(v.Variant(), v.Pieces().Variant())
}
