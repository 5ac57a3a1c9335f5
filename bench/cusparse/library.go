package cusparse

import (
	"errors"
	"fmt"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/dl"
)

// libraryNames are the names of cuSPARSE 12, which CUDA 12 and 13 come with: as the loader knows it, and where CUDA is
// installed by default.
var libraryNames = []string{"libcusparse.so.12", "/usr/local/cuda/lib64/libcusparse.so.12"}

// symbols are all functions that are called.
var symbols = []string{
	"cusparseCreate", "cusparseDestroy", "cusparseGetVersion", "cusparseSetStream",
	"cusparseCreateCsr", "cusparseDestroySpMat", "cusparseCreateDnMat", "cusparseDestroyDnMat",
	"cusparseSpMM_bufferSize", "cusparseSpMM_preprocess", "cusparseSpMM",
	"cusparseSDDMM_bufferSize", "cusparseSDDMM_preprocess", "cusparseSDDMM",
}

// library is cuSPARSE, opened at run time.
type library map[string]uintptr // addresses of symbols

// openLibrary opens cuSPARSE and finds all symbols in it. Errors wrap device.ErrUnavailable. What was opened stays
// open: the library does not like to be opened a second time.
func openLibrary(open dl.Opener) (api, error) {
	lib, err := open(libraryNames...)
	if err != nil {
		return nil, &device.Error{Device: "cusparse", Call: "open " + libraryNames[0], Err: device.ErrUnavailable,
			Detail: fmt.Sprintf("cuSPARSE 12 was not found; install the CUDA toolkit, and name the folder of its libraries in LD_LIBRARY_PATH (%v)", err)}
	}
	l := library{}
	for _, name := range symbols {
		if l[name], err = lib.Sym(name); err != nil {
			return nil, errors.Join(&device.Error{Device: "cusparse", Call: name, Err: device.ErrUnavailable,
				Detail: fmt.Sprintf("this cuSPARSE is too old, install one of CUDA 12 or newer (%v)", err)}, lib.Close())
		}
	}
	return l, nil
}

// call calls a function whose result is a cusparseStatus_t. Arguments that point to memory of Go do so in an
// expression uintptr(unsafe.Pointer(p)) that stands in the call itself, which keeps the memory in place meanwhile.
//
//go:uintptrescapes
func call(l library, name string, args ...uintptr) error {
	return failure(name, status(int32(dl.Call(l[name], args...))))
}

// cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
func (l library) create() (handle, error) {
	var h handle
	err := call(l, "cusparseCreate", uintptr(unsafe.Pointer(&h)))
	return h, err
}

// cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
func (l library) destroy(h handle) error { return call(l, "cusparseDestroy", uintptr(h)) }

// cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
func (l library) version(h handle) (int, error) {
	var v int32
	err := call(l, "cusparseGetVersion", uintptr(h), uintptr(unsafe.Pointer(&v)))
	return int(v), err
}

// cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId)
func (l library) setStream(h handle, stream uintptr) error {
	return call(l, "cusparseSetStream", uintptr(h), stream)
}

// cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
// void *csrRowOffsets, void *csrColInd, void *csrValues, cusparseIndexType_t csrRowOffsetsType,
// cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase, cudaDataType valueType)
func (l library) createCSR(rows, cols, nnz int64, offsets, indices, values uintptr, offsetType, columnType indexType, base indexBase, t dataType) (matrix, error) {
	var m matrix
	err := call(l, "cusparseCreateCsr", uintptr(unsafe.Pointer(&m)), uintptr(rows), uintptr(cols), uintptr(nnz), offsets, indices, values,
		uintptr(offsetType), uintptr(columnType), uintptr(base), uintptr(t))
	return m, err
}

// cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr)
func (l library) destroySparse(m matrix) error { return call(l, "cusparseDestroySpMat", uintptr(m)) }

// cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols, int64_t ld, void *values,
// cudaDataType valueType, cusparseOrder_t order)
func (l library) createDense(rows, cols, ld int64, values uintptr, t dataType, o order) (matrix, error) {
	var m matrix
	err := call(l, "cusparseCreateDnMat", uintptr(unsafe.Pointer(&m)), uintptr(rows), uintptr(cols), uintptr(ld), values, uintptr(t), uintptr(o))
	return m, err
}

// cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr)
func (l library) destroyDense(m matrix) error { return call(l, "cusparseDestroyDnMat", uintptr(m)) }

// scalar is a number that the library reads as a float or a double.
type scalar [8]byte

// scalars returns α = 1 and β = 0.
func scalars(t dataType) (alpha, beta scalar) {
	if t == real32 {
		*(*float32)(unsafe.Pointer(&alpha)) = 1
	} else {
		*(*float64)(unsafe.Pointer(&alpha)) = 1
	}
	return alpha, beta
}

// cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
// cudaDataType computeType, cusparseSpMMAlg_t alg, size_t *bufferSize)
func (l library) spmmBuffer(h handle, p product) (int64, error) {
	return l.buffer("cusparseSpMM_bufferSize", h, p)
}

// cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
// cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
func (l library) spmmPrepare(h handle, p product, buffer uintptr) error {
	return l.product("cusparseSpMM_preprocess", h, p, buffer)
}

// cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
// cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
func (l library) spmm(h handle, p product, buffer uintptr) error {
	return l.product("cusparseSpMM", h, p, buffer)
}

// cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
// cudaDataType computeType, cusparseSDDMMAlg_t alg, size_t *bufferSize)
func (l library) sddmmBuffer(h handle, p product) (int64, error) {
	return l.buffer("cusparseSDDMM_bufferSize", h, p)
}

// cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
// cudaDataType computeType, cusparseSDDMMAlg_t alg, void *externalBuffer)
func (l library) sddmmPrepare(h handle, p product, buffer uintptr) error {
	return l.product("cusparseSDDMM_preprocess", h, p, buffer)
}

// cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
// const void *alpha, cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
// cudaDataType computeType, cusparseSDDMMAlg_t alg, void *externalBuffer)
func (l library) sddmm(h handle, p product, buffer uintptr) error {
	return l.product("cusparseSDDMM", h, p, buffer)
}

// buffer calls one of the functions that return the size of a buffer.
func (l library) buffer(name string, h handle, p product) (int64, error) {
	alpha, beta := scalars(p.compute)
	var size uintptr
	err := call(l, name, uintptr(h), uintptr(p.opA), uintptr(p.opB), uintptr(unsafe.Pointer(&alpha)), uintptr(p.a), uintptr(p.b),
		uintptr(unsafe.Pointer(&beta)), uintptr(p.c), uintptr(p.compute), uintptr(p.alg), uintptr(unsafe.Pointer(&size)))
	return int64(size), err
}

// product calls one of the functions that work in a buffer.
func (l library) product(name string, h handle, p product, buffer uintptr) error {
	alpha, beta := scalars(p.compute)
	return call(l, name, uintptr(h), uintptr(p.opA), uintptr(p.opB), uintptr(unsafe.Pointer(&alpha)), uintptr(p.a), uintptr(p.b),
		uintptr(unsafe.Pointer(&beta)), uintptr(p.c), uintptr(p.compute), uintptr(p.alg), buffer)
}
