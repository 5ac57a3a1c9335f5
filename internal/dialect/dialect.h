// The dialect: what a kernel may use beside plain C, for CUDA and for OpenCL C 1.2.
//
//   KERNEL(threads, name)(IN(float, a), OUT(float, p), long nnz) { AT(float, a); AT_OUT(float, p); ... }
//
// Blocks and grids have one dimension. A buffer is a pointer and the number of its first element, because
// OpenCL cannot point into a buffer. BARRIER and SUM_LANES must be reached by all threads of a block
// together: without sub-groups OpenCL does the latter through shared memory.

#ifdef __OPENCL_VERSION__

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT ON

#define KERNEL(threads, name) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void name
#define DEVICE static inline
#define GLOBAL __global
#define SHARED __local
#define RESTRICT restrict
#define THREAD ((int)get_local_id(0))
#define THREADS ((int)get_local_size(0))
#define BLOCK ((long)get_group_id(0))
#define BLOCKS ((long)get_num_groups(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define MAKE4(T, x, y, z, w) ((T##4)(x, y, z, w))

// Dynamic shared memory is the last argument of a kernel, SHARED_ARG, and SHARED_BYTES in its body.
#define SHARED_ARG , __local char *shared_arg_
#define SHARED_BYTES shared_arg_

// FETCH reads memory that nothing writes while the kernel runs.
#define FETCH(p) (*(p))

// SUM_LANES(x, lanes) replaces x by its sum over aligned groups of lanes threads, a power of two up to
// WARP, added in the order of a butterfly. The kernel declares LANES_SCRATCH once.
#define LANES_SCRATCH(T, threads) __local T lanes_scratch_[threads]
#define SUM_LANES(x, lanes) \
	for (int o_ = (lanes) / 2; o_ > 0; o_ /= 2) { \
		lanes_scratch_[THREAD] = x; \
		BARRIER(); \
		x += lanes_scratch_[THREAD ^ o_]; \
		BARRIER(); \
	}

#define HALF_TO_FLOAT(u) half_to_float_(u)
DEVICE float half_to_float_(ushort u) { return vload_half(0, (const __private half *)&u); }

#else

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;

#define KERNEL(threads, name) extern "C" __global__ void __launch_bounds__(threads) name
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define RESTRICT __restrict__
#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
#define BLOCK ((long)blockIdx.x)
#define BLOCKS ((long)gridDim.x)
#define BARRIER() __syncthreads()
#define MAKE4(T, x, y, z, w) make_##T##4(x, y, z, w)

#define SHARED_ARG
extern __shared__ __align__(16) char shared_dynamic_[];
#define SHARED_BYTES shared_dynamic_

#define FETCH(p) __ldg(p)

#define LANES_SCRATCH(T, threads)
#define SUM_LANES(x, lanes) \
	_Pragma("unroll") for (int o_ = (lanes) / 2; o_ > 0; o_ /= 2) x += __shfl_xor_sync(0xffffffffu, x, o_)

DEVICE float half_to_float_(ushort u)
{
	float f;
	asm("{.reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h;}" : "=f"(f) : "h"(u));
	return f;
}
#define HALF_TO_FLOAT(u) half_to_float_(u)

#endif

#define WARP 32

// Arguments that are buffers, and the pointers of the same name that a body works with.
#define IN(T, p) const GLOBAL T *RESTRICT p##_base_, long p##_first_
#define INOUT(T, p) GLOBAL T *p##_base_, long p##_first_
#define OUT(T, p) GLOBAL T *RESTRICT p##_base_, long p##_first_
#define AT_IN(T, p) const GLOBAL T *RESTRICT p = p##_base_ + p##_first_
#define AT_INOUT(T, p) GLOBAL T *p = p##_base_ + p##_first_
#define AT_OUT(T, p) GLOBAL T *RESTRICT p = p##_base_ + p##_first_
