package als

import (
	"slices"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// prepare has a GPU compile what training will launch, while the host looks at the ratings and uploads them.
func prepare[T sparse.Float](dev device.Device, train *sparse.CSR[T], opt *Options[T]) {
	if dev.Kind() == device.CUDA && opt.Rank > 0 {
		device.Prepare(dev, programs(dev, train, opt)...)
	}
}

// programs returns the kernels of training, about in the order in which they are needed.
func programs[T sparse.Float](dev device.Device, train *sparse.CSR[T], opt *Options[T]) []*device.Program {
	nnz := int64(len(train.ColIdx))
	unknowns, all := opt.Columns(dev)
	programs := pattern.Programs[T](nnz)
	for _, rows := range []int{train.Rows, train.Cols} {
		programs = slices.Concat(programs, sddmm.Programs[T](rows, nnz, all), spmm.Programs[T](rows, nnz, unknowns), sddmm.Programs[T](rows, nnz, unknowns))
	}
	operations := []dense.Operations{dense.ForSquare, dense.ForRowCG, dense.ForSums}
	if opt.Implicit {
		operations = append(operations, dense.ForGram)
	}
	if opt.Biases {
		operations = append(operations, dense.ForColumns)
	}
	return append(programs, dense.Programs[T](unknowns, operations...)...)
}
