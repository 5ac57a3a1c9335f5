package sddmm

import (
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/sddmm/kernels"
)

// Programs returns the kernels that a GPU most likely runs for a pattern of rows rows and nnz non-zeros, and matrices of k columns
// whose rows start at multiples of 16 bytes, for device.Prepare.
func Programs[T Float](rows int, nnz int64, k int) []*device.Program {
	t := dialect.TypeOf[T]()
	all := []*dialect.Variant{kernels.NewGather(t, k, true, short(rows, nnz)).Variant()}
	if sharedDepth(t, k) {
		all = append(all, kernels.NewTile(t, model.SharedDepth(k, int(unsafe.Sizeof(T(0))))).Variant(), kernels.Finish(t))
	}
	return dialect.Programs(all...)
}
