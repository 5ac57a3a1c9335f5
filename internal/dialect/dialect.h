// The dialect: what a kernel may use beside plain C, for CUDA and for OpenCL C 1.2.
//
//   KERNEL(threads, NAME)(IN(float, a), OUT(float, p), long nnz)
//   {
//       AT_IN(float, a);
//       AT_OUT(float, p);
//       ...
//   }
//
// Blocks and grids have one dimension, and every block has the threads that KERNEL says, a multiple of WARP where the
// kernel uses SUM_LANES. KERNEL_AT_LEAST says also how many blocks a multiprocessor shall hold at least, which limits the
// registers of a thread. A buffer is a pointer and the number of its first element, because OpenCL cannot point
// into a buffer; one that is not there is a null pointer. Pointers are declared with where they point to: GLOBAL, or
// LOCAL for shared memory. long has 64 bits. BARRIER, WARP_BARRIER, SUM_LANES, HAND_OUT, HANDED, SAME_LANES, SCATTER_SUMS and
// SUM_THREADS must be reached by all threads of a block together: without sub-groups OpenCL does them through shared memory.
// ROUNDS(own, most) says how often a loop with them runs, of which a warp has own and none more than most.

#define WARP 32

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef __OPENCL_VERSION__

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON

#define KERNEL(threads, name) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void name
#define KERNEL_AT_LEAST(threads, blocks, name) KERNEL(threads, name)
#define DEVICE static inline
#define GLOBAL __global
#define SHARED __local
#define LOCAL __local
#define RESTRICT restrict
#define THREAD ((int)get_local_id(0))
#define THREADS ((int)get_local_size(0))
#define BLOCK ((long)get_group_id(0))
#define BLOCKS ((long)get_num_groups(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define WARP_BARRIER() BARRIER() // orders accesses of a warp to shared memory
#define ROUNDS(own, most) (most)
#define MAKE4(T, x, y, z, w) ((JOIN(T, 4))(x, y, z, w))
#define FMA(a, b, c) fma(a, b, c)
#define UNROLLED __attribute__((opencl_unroll_hint))
#define AS_FLOAT(u) as_float(u)
#define AS_UINT(f) as_uint(f)
#define POPCOUNT(u) ((int)popcount(u))

// Dynamic shared memory, aligned to 16 bytes, is the last argument of a kernel, SHARED_ARG after it without a comma, and
// SHARED_BYTES in its body:
//
//   KERNEL(64, NAME)(OUT(float, y) SHARED_ARG) { LOCAL float *row = (LOCAL float *)SHARED_BYTES; ... }
#define SHARED_ARG , __local ulong2 *shared_arg_
#define SHARED_BYTES ((__local char *)shared_arg_)

// KEEP(p) tells the compiler to have a pointer ready where it is used, and not to compute it again there.
#define KEEP(p)

// AFTER_EARLIER() is the first statement of a kernel that may be launched before earlier ones have ended, and waits for them: what is
// saved is the time between an end and a start. CUDA alone does that, from compute capability 9.0 on.
#define AFTER_EARLIER()

// FETCH reads memory that nothing writes while the kernel runs.
#define FETCH(p) (*(p))

// SUM_LANES(x, lanes) replaces x by its sum over aligned groups of lanes threads, a power of two up to
// WARP, added in the order of a butterfly: all lanes get the same bits. The kernel declares
// LANES_SCRATCH(T, threads) once, in its outermost block, T being the type of x.
#define LANES_SCRATCH(T, threads) __local T lanes_scratch_[threads]
#define ADD_LANE_(sum, x, o) \
	do { \
		lanes_scratch_[THREAD] = x; \
		BARRIER(); \
		sum += lanes_scratch_[THREAD ^ (o)]; \
		BARRIER(); \
	} while (0)
#define SUM_LANES(x, lanes) \
	do { \
		for (int o_ = (lanes) / 2; o_ > 0; o_ /= 2) \
			ADD_LANE_(x, x, o_); \
	} while (0)

// SUM_THREADS(x, lanes) is the same for a power of two up to the block. The kernel declares
// THREADS_SCRATCH(T, threads) once, which serves SUM_LANES too.
#define THREADS_SCRATCH(T, threads) LANES_SCRATCH(T, threads)
#define SUM_THREADS(x, lanes) SUM_LANES(x, lanes)

// HAND_OUT(x, lanes) shows the others of an aligned group of lanes threads what a thread has as x, and HANDED(x, l, lanes) is what
// thread l of the group has shown. The kernel declares HANDS(T, threads) once, T being the type of x.
#define HANDS(T, threads) __local T hands_[threads]
#define HAND_OUT(x, lanes) \
	do { \
		BARRIER(); \
		hands_[THREAD] = x; \
		BARRIER(); \
	} while (0)
#define HANDED(x, l, lanes) hands_[THREAD / (lanes) * (lanes) + (l)]

// SAME_LANES(set, x, bits) sets the uint set to the lanes of the warp whose ints x have the same lowest bits bits as the
// thread's own. The kernel declares LANES_SCRATCH(int, threads).
#define SAME_LANES(set, x, bits) \
	do { \
		lanes_scratch_[THREAD] = x; \
		BARRIER(); \
		set = 0; \
		for (int l_ = 0; l_ < WARP; l_++) \
			set |= (uint)(((lanes_scratch_[THREAD / WARP * WARP + l_] ^ (x)) & ((1 << (bits)) - 1)) == 0) << l_; \
		BARRIER(); \
	} while (0)

// In one step for all threads, in global or shared memory: TAKE adds one to an int and returns what it was, ADD adds n to one, and
// MARK sets bits of a uint.
#define TAKE(p) atomic_inc(p)
#define ADD(p, n) atomic_add(p, n)
#define MARK(p, bits) atomic_or(p, bits)

DEVICE float half_to_float_(ushort u) { return vload_half(0, (const __private half *)&u); }
DEVICE float2 halves_to_floats_(uint w) { return vload_half2(0, (const __private half *)&w); }
DEVICE float2 bfloats_to_floats_(uint w) { return (float2)(as_float(w << 16), as_float(w & 0xffff0000u)); }
DEVICE ushort float_to_half_(float f)
{
	ushort u;
	vstore_half_rte(f, 0, (__private half *)&u);
	return u;
}

#else

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define KERNEL(threads, name) extern "C" __global__ void __launch_bounds__(threads) name
#define KERNEL_AT_LEAST(threads, blocks, name) extern "C" __global__ void __launch_bounds__(threads, blocks) name
#define DEVICE __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define LOCAL
#define RESTRICT __restrict__
#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
#define BLOCK ((long)blockIdx.x)
#define BLOCKS ((long)gridDim.x)
#define BARRIER() __syncthreads()
#define WARP_BARRIER() __syncwarp()
#define ROUNDS(own, most) (own)
#define MAKE4(T, x, y, z, w) JOIN(JOIN(make_, T), 4)(x, y, z, w)
#define FMA(a, b, c) fma(a, b, c)
#define UNROLLED _Pragma("unroll")
#define AS_FLOAT(u) __uint_as_float(u)
#define AS_UINT(f) __float_as_uint(f)
#define POPCOUNT(u) __popc(u)

#define SHARED_ARG
extern __shared__ __align__(16) char shared_dynamic_[];
#define SHARED_BYTES shared_dynamic_

#define KEEP(p) asm volatile("" : "+l"(p))

#if __CUDA_ARCH__ >= 900
#define AFTER_EARLIER() asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory")
#else
#define AFTER_EARLIER()
#endif

#define FETCH(p) __ldg(p)

#define LANES_SCRATCH(T, threads)
#define ADD_LANE_(sum, x, o) sum += __shfl_xor_sync(0xffffffffu, x, o)
#define SUM_LANES(x, lanes) \
	do { \
		_Pragma("unroll") for (int o_ = (lanes) / 2; o_ > 0; o_ /= 2) ADD_LANE_(x, x, o_); \
	} while (0)

// A sum over more than a warp is that of its warps' sums, from the first on.
#define THREADS_SCRATCH(T, threads) __shared__ T threads_scratch_[((threads) + WARP - 1) / WARP]
#define SUM_THREADS(x, lanes) \
	do { \
		SUM_LANES(x, (lanes) < WARP ? (lanes) : WARP); \
		if ((lanes) > WARP) { \
			const int first_ = THREAD / (lanes) * ((lanes) / WARP); \
			if (THREAD % WARP == 0) threads_scratch_[THREAD / WARP] = x; \
			BARRIER(); \
			x = threads_scratch_[first_]; \
			for (int w_ = 1; w_ < (lanes) / WARP; w_++) x += threads_scratch_[first_ + w_]; \
			BARRIER(); \
		} \
	} while (0)

#define HANDS(T, threads)
#define HAND_OUT(x, lanes)
#define HANDED(x, l, lanes) __shfl_sync(0xffffffffu, x, l, lanes)

#define SAME_LANES(set, x, bits) \
	do { \
		set = 0xffffffffu; \
		for (int b_ = 0; b_ < (bits); b_++) { \
			const int one_ = (x) >> b_ & 1; \
			const uint ones_ = __ballot_sync(0xffffffffu, one_); \
			set &= one_ ? ones_ : ~ones_; \
		} \
	} while (0)

#define TAKE(p) atomicAdd(p, 1)
#define ADD(p, n) atomicAdd(p, n)
#define MARK(p, bits) atomicOr(p, bits)

DEVICE float half_to_float_(ushort u)
{
	float f;
	asm("{.reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h;}" : "=f"(f) : "h"(u));
	return f;
}
DEVICE float2 halves_to_floats_(uint w)
{
	float2 f;
	asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}" : "=f"(f.x), "=f"(f.y) : "r"(w));
	return f;
}
// In assembly, so that the compiler leaves it where the numbers are used and not where they are loaded: they take twice the
// registers.
DEVICE float2 bfloats_to_floats_(uint w)
{
	float2 f;
	asm("shl.b32 %0, %1, 16;" : "=f"(f.x) : "r"(w));
	asm("and.b32 %0, %1, 0xffff0000;" : "=f"(f.y) : "r"(w));
	return f;
}
DEVICE ushort float_to_half_(float f)
{
	ushort u;
	asm("{.reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h;}" : "=h"(u) : "f"(f));
	return u;
}

#endif

// SCATTER_SUMS(T, x, lanes) is SUM_LANES for the elements of an array of lanes, at most 16 of them, at a time: x[0] becomes the
// sum that SUM_LANES gives of x[l], with the same bits, l being the number of the thread in its group. The other
// elements are spent. It takes lanes - 1 exchanges, not lanes·log2(lanes).
#define SCATTER_SUMS(T, x, lanes) \
	do { \
		UNROLLED for (int o_ = (lanes) / 2; o_ > 0; o_ /= 2) { \
			UNROLLED for (int t_ = 0; t_ < (lanes) / 2; t_++) { \
				if (t_ < o_) { \
					const T away_ = THREAD & o_ ? x[t_] : x[t_ + o_]; \
					x[t_] = THREAD & o_ ? x[t_ + o_] : x[t_]; \
					ADD_LANE_(x[t_], away_, o_); \
				} \
			} \
		} \
	} while (0)

// Half precision (IEEE binary16) and bfloat16 are numbers in memory, as ushort, and floats in registers. Conversions to
// them round to nearest, ties to even. HALVES_TO_FLOATS and BFLOATS_TO_FLOATS make two of a uint, the lower half first.
#define HALF_TO_FLOAT(u) half_to_float_(u)
#define HALVES_TO_FLOATS(w) halves_to_floats_(w)
#define FLOAT_TO_HALF(f) float_to_half_(f)
#define BFLOAT_TO_FLOAT(u) AS_FLOAT((uint)(u) << 16)
#define BFLOATS_TO_FLOATS(w) bfloats_to_floats_(w)
#define FLOAT_TO_BFLOAT(f) float_to_bfloat_(f)
DEVICE ushort float_to_bfloat_(float f)
{
	uint u = AS_UINT(f);
	if ((u & 0x7fffffffu) > 0x7f800000u)
		return (ushort)(u >> 16 | 0x40u); // NaN: rounding could make it infinite
	return (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

// Arguments that are buffers, and the pointers of the same name that a body works with.
#define IN(T, p) const GLOBAL T *RESTRICT p##_base_, long p##_first_
#define INOUT(T, p) GLOBAL T *p##_base_, long p##_first_
#define OUT(T, p) GLOBAL T *RESTRICT p##_base_, long p##_first_
#define AT_IN(T, p) const GLOBAL T *RESTRICT p = p##_base_ + p##_first_
#define AT_INOUT(T, p) GLOBAL T *p = p##_base_ + p##_first_
#define AT_OUT(T, p) GLOBAL T *RESTRICT p = p##_base_ + p##_first_
