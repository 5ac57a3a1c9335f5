package cusparse

import (
	"fmt"

	"sddmmkit/device"
)

// Handles of the library. Zero is none.
type (
	handle uintptr // cusparseHandle_t
	matrix uintptr // cusparseSpMatDescr_t or cusparseDnMatDescr_t
)

// Enumerations, as numbered in cusparse.h and library_types.h.
type (
	operation int32 // cusparseOperation_t
	order     int32 // cusparseOrder_t
	indexType int32 // cusparseIndexType_t
	indexBase int32 // cusparseIndexBase_t
	dataType  int32 // cudaDataType
	algorithm int32 // cusparseSpMMAlg_t, cusparseSDDMMAlg_t
	status    int32 // cusparseStatus_t
)

const (
	nonTranspose operation = 0 // CUSPARSE_OPERATION_NON_TRANSPOSE
	transpose    operation = 1 // CUSPARSE_OPERATION_TRANSPOSE

	columnMajor order = 1 // CUSPARSE_ORDER_COL
	rowMajor    order = 2 // CUSPARSE_ORDER_ROW

	index32 indexType = 2 // CUSPARSE_INDEX_32I
	index64 indexType = 3 // CUSPARSE_INDEX_64I

	fromZero indexBase = 0 // CUSPARSE_INDEX_BASE_ZERO

	real32 dataType = 0 // CUDA_R_32F
	real64 dataType = 1 // CUDA_R_64F

	sddmmDefault algorithm = 0  // CUSPARSE_SDDMM_ALG_DEFAULT
	spmmCSR1     algorithm = 4  // CUSPARSE_SPMM_CSR_ALG1
	spmmCSR2     algorithm = 6  // CUSPARSE_SPMM_CSR_ALG2
	spmmCSR3     algorithm = 12 // CUSPARSE_SPMM_CSR_ALG3
)

// api is what the package needs of cuSPARSE. Errors are *device.Error without the name of the device. All work
// in the context that is current on the calling thread. Addresses are of the device's memory.
type api interface {
	create() (handle, error)
	destroy(h handle) error
	version(h handle) (int, error) // 1000·major + 100·minor + patch
	setStream(h handle, stream uintptr) error

	createCSR(rows, cols, nnz int64, offsets, indices, values uintptr, offsetType, columnType indexType, base indexBase, t dataType) (matrix, error)
	destroySparse(m matrix) error
	createDense(rows, cols, ld int64, values uintptr, t dataType, o order) (matrix, error)
	destroyDense(m matrix) error

	// spmmBuffer, spmmPrepare and spmm compute p.c = op(p.a)·op(p.b) with p.a sparse.
	spmmBuffer(h handle, p product) (int64, error)
	spmmPrepare(h handle, p product, buffer uintptr) error
	spmm(h handle, p product, buffer uintptr) error

	// sddmmBuffer, sddmmPrepare and sddmm compute p.c = op(p.a)·op(p.b) on the pattern of p.c, which is sparse.
	sddmmBuffer(h handle, p product) (int64, error)
	sddmmPrepare(h handle, p product, buffer uintptr) error
	sddmm(h handle, p product, buffer uintptr) error
}

// product is what a call computes, with α = 1 and β = 0.
type product struct {
	opA, opB operation
	a, b, c  matrix
	compute  dataType
	alg      algorithm
}

// statuses are the names of cusparseStatus_t.
var statuses = []string{
	"CUSPARSE_STATUS_SUCCESS", "CUSPARSE_STATUS_NOT_INITIALIZED", "CUSPARSE_STATUS_ALLOC_FAILED", "CUSPARSE_STATUS_INVALID_VALUE",
	"CUSPARSE_STATUS_ARCH_MISMATCH", "CUSPARSE_STATUS_MAPPING_ERROR", "CUSPARSE_STATUS_EXECUTION_FAILED", "CUSPARSE_STATUS_INTERNAL_ERROR",
	"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "CUSPARSE_STATUS_ZERO_PIVOT", "CUSPARSE_STATUS_NOT_SUPPORTED", "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
}

// failure returns the error for what a function returned, nil for success.
func failure(call string, s status) error {
	if s == 0 {
		return nil
	}
	e := &device.Error{Call: call, Code: int(s), Name: fmt.Sprintf("status %d", s)}
	if s > 0 && int(s) < len(statuses) {
		e.Name = statuses[s]
	}
	switch s {
	case 1:
		e.Err, e.Detail = device.ErrUnavailable, "the library found no GPU that it can use, or is older than the driver allows"
	case 2, 11:
		e.Err = device.ErrOutOfMemory
	case 4, 8, 10:
		e.Err = device.ErrUnsupported
	}
	return e
}
