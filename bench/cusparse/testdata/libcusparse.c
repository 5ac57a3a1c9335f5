// A stand-in for NVIDIA's libcusparse.so.12 whose device memory is memory of the host. It tests the bindings: the
// compiler checks each function here against the prototype in cusparse.h, and a test calls them with the bindings' ideas
// of arguments. See TestStandIn.

#include <cusparse.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cusparseContext { cudaStream_t stream; };
struct cusparseSpMatDescr { int64_t rows, cols, nnz; void *offsets, *indices, *values; cusparseIndexType_t type; cudaDataType t; };
struct cusparseDnMatDescr { int64_t rows, cols, ld; void *values; cudaDataType t; cusparseOrder_t order; };

#define WANT(condition) do { if (!(condition)) return CUSPARSE_STATUS_INVALID_VALUE; } while (0)
#define BUFFER 64 // bytes, whose first is set by preprocessing

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
	*handle = calloc(1, sizeof **handle);
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
	free(handle);
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
	WANT(handle);
	*version = CUSPARSE_VERSION;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *m, int64_t rows, int64_t cols, int64_t nnz, void *offsets, void *indices, void *values,
	cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType t)
{
	WANT(offset_type == CUSPARSE_INDEX_32I || offset_type == CUSPARSE_INDEX_64I);
	WANT(index_type == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO && (t == CUDA_R_32F || t == CUDA_R_64F));
	*m = malloc(sizeof **m);
	**m = (struct cusparseSpMatDescr){rows, cols, nnz, offsets, indices, values, offset_type, t};
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m)
{
	free((void *)m);
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *m, int64_t rows, int64_t cols, int64_t ld, void *values, cudaDataType t, cusparseOrder_t order)
{
	WANT(order == CUSPARSE_ORDER_ROW ? ld >= cols : order == CUSPARSE_ORDER_COL && ld >= rows);
	*m = malloc(sizeof **m);
	**m = (struct cusparseDnMatDescr){rows, cols, ld, values, t, order};
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m)
{
	free((void *)m);
	return CUSPARSE_STATUS_SUCCESS;
}

static double get(const void *values, cudaDataType t, int64_t at)
{
	return t == CUDA_R_32F ? ((const float *)values)[at] : ((const double *)values)[at];
}

static void set(void *values, cudaDataType t, int64_t at, double x)
{
	if (t == CUDA_R_32F)
		((float *)values)[at] = (float)x;
	else
		((double *)values)[at] = x;
}

static int64_t place(cusparseConstDnMatDescr_t m, cusparseOperation_t op, int64_t i, int64_t j)
{
	if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) {
		int64_t k = i;
		i = j, j = k;
	}
	return m->order == CUSPARSE_ORDER_ROW ? i * m->ld + j : j * m->ld + i;
}

static int64_t offset(cusparseConstSpMatDescr_t s, int64_t i)
{
	return s->type == CUSPARSE_INDEX_32I ? ((const int32_t *)s->offsets)[i] : ((const int64_t *)s->offsets)[i];
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType t, cusparseSpMMAlg_t alg, size_t *size)
{
	(void)opB, (void)alg;
	WANT(handle->stream && get(alpha, t, 0) == 1 && get(beta, t, 0) == 0 && a->t == t && b->t == t && c->t == t);
	WANT((opA == CUSPARSE_OPERATION_NON_TRANSPOSE ? a->rows : a->cols) == c->rows && b->cols == c->cols);
	*size = BUFFER;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType t, cusparseSpMMAlg_t alg, void *buffer)
{
	size_t size;
	memset(buffer, 1 + (int)alg, BUFFER);
	return cusparseSpMM_bufferSize(handle, opA, opB, alpha, a, b, beta, c, t, alg, &size);
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType t, cusparseSpMMAlg_t alg, void *buffer)
{
	WANT(handle->stream && get(alpha, t, 0) == 1 && get(beta, t, 0) == 0);
	WANT(alg == CUSPARSE_SPMM_CSR_ALG1 || alg == CUSPARSE_SPMM_CSR_ALG2 || alg == CUSPARSE_SPMM_CSR_ALG3);
	if (*(char *)buffer != 1 + (int)alg)
		return CUSPARSE_STATUS_EXECUTION_FAILED;
	if (alg == CUSPARSE_SPMM_CSR_ALG3 && opA != CUSPARSE_OPERATION_NON_TRANSPOSE)
		return CUSPARSE_STATUS_NOT_SUPPORTED;
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t k = 0; k < c->cols; k++)
			set(c->values, t, place(c, CUSPARSE_OPERATION_NON_TRANSPOSE, i, k), 0);
	for (int64_t i = 0; i < a->rows; i++)
		for (int64_t z = offset(a, i); z < offset(a, i + 1); z++)
			for (int64_t k = 0; k < c->cols; k++) {
				int64_t from = ((const int32_t *)a->indices)[z], to = i;
				if (opA != CUSPARSE_OPERATION_NON_TRANSPOSE)
					to = from, from = i;
				int64_t at = place(c, CUSPARSE_OPERATION_NON_TRANSPOSE, to, k);
				set(c->values, t, at, get(c->values, t, at) + get(a->values, t, z) * get(b->values, t, place(b, opB, from, k)));
			}
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType t, cusparseSDDMMAlg_t alg, size_t *size)
{
	(void)alg;
	WANT(handle->stream && get(alpha, t, 0) == 1 && get(beta, t, 0) == 0 && a->t == t && b->t == t && c->t == t);
	WANT(opA == CUSPARSE_OPERATION_NON_TRANSPOSE && a->rows == c->rows);
	WANT(opB == CUSPARSE_OPERATION_NON_TRANSPOSE ? b->rows == a->cols && b->cols == c->cols : b->cols == a->cols && b->rows == c->cols);
	*size = BUFFER;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType t, cusparseSDDMMAlg_t alg, void *buffer)
{
	size_t size;
	memset(buffer, 1, BUFFER);
	return cusparseSDDMM_bufferSize(handle, opA, opB, alpha, a, b, beta, c, t, alg, &size);
}

cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType t, cusparseSDDMMAlg_t alg, void *buffer)
{
	WANT(handle->stream && get(alpha, t, 0) == 1 && get(beta, t, 0) == 0 && alg == CUSPARSE_SDDMM_ALG_DEFAULT);
	if (*(char *)buffer != 1)
		return CUSPARSE_STATUS_EXECUTION_FAILED;
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t z = offset(c, i); z < offset(c, i + 1); z++) {
			double sum = 0;
			for (int64_t k = 0; k < a->cols; k++)
				sum += get(a->values, t, place(a, opA, i, k)) * get(b->values, t, place(b, opB, k, ((const int32_t *)c->indices)[z]));
			set(c->values, t, z, sum);
		}
	return CUSPARSE_STATUS_SUCCESS;
}
