// dots_e = ⟨A_i, B_c⟩ for non-zeros e = (i, c) in panels of columns so popular that many of all products are wanted: all products of
// ROWS rows of A and COLS columns are made, both from shared memory, and those of non-zeros are picked out of them (cuSDDMM's
// SM-SM scheme, section III, on tensor cores). tiling.Shared has the order of the non-zeros and what is a cell.
//
// A block of threads has a cell, COLS columns of a panel, and a band of height of its rows, and goes through these ROWS at a time. K
// is done in slices of 128 bytes of a row, of which STAGES are on their way or being multiplied. Sums stay in registers until K
// ends, and then take the place of the slices.
//
// Macros: V; ROWS and COLS, multiples of AT_A_TIME.

#define LOADS 8 // of 16 bytes in a slice of a row
#define STAGES 3
#define STAGE ((ROWS + COLS) * LOADS)
#define AT_A_TIME (BLOCK_THREADS / LOADS) // rows that threads load at a time

// A row's loads in shared memory: eight rows have the same load in different banks.
#define PLACE(row, load) ((row) * LOADS + ((load) ^ ((row) & 7)))

#if defined(__CUDA_ARCH__)

// STAGES_AT(p) is the distance from p to a multiple of 1024 bytes.
#define STAGES_AT(p) (-(uint)__cvta_generic_to_shared(p) & 1023)

// BRING(p) brings the cache line at p to L2.
#define BRING(p) asm volatile("prefetch.global.L2 [%0];" ::"l"(p))

// COPY16(to, from, there) copies 16 bytes to shared memory while the thread goes on, zeros where they are not there. COPIES_END ends a
// group of copies, and COPIES_BUT(n) waits for all but the last n groups of the thread.
#define COPY16(to, from, there) \
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint)__cvta_generic_to_shared(to)), "l"(from), "r"((there) ? 16 : 0) : "memory")
#define COPIES_END() asm volatile("cp.async.commit_group;" ::: "memory")
#define COPIES_BUT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

#ifdef BFLOAT16
#define MMA_TYPE_ "bf16"
#else
#define MMA_TYPE_ "f16"
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// On compute capability 9.0 itself four warps multiply 64 rows with all columns, from shared memory and while they go on: wgmma, of which
// NVIDIA's manual for PTX says where it wants factors (rows of 128 bytes, "128-byte swizzle") and leaves sums: those of 16 rows in
// each warp, in pieces of 16 × 8 as below.
#define HIGH 1
#define WIDE (COLS / 8)
#define WARP_ROW (THREAD / WARP * 16)
#define WARP_COL 0
#define SUMS float sums[WIDE * 4]
#define ZERO_SUMS() UNROLLED for (int i_ = 0; i_ < WIDE * 4; i_++) sums[i_] = 0
#define SUM(i, j, n) sums[(j) * 4 + (n)]

// COPIED() lets tensor cores see what threads have copied, and MULTIPLIED() waits until they have done with the slice before.
#define COPIED() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define MULTIPLIED() asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")

// FACTOR(from) tells wgmma of rows that begin there: 1024 bytes from eight rows to the next.
#define FACTOR(from) ((ulong)((from) >> 4) | 1ul << 16 | 64ul << 32 | 1ul << 62)

#if COLS != 224
#error wgmma is written down for 224 columns
#endif
#define EIGHT_(n) \
	"+f"(sums[n]), "+f"(sums[n + 1]), "+f"(sums[n + 2]), "+f"(sums[n + 3]), "+f"(sums[n + 4]), "+f"(sums[n + 5]), "+f"(sums[n + 6]), "+f"(sums[n + 7])
#define MULTIPLY(slice) \
	do { \
		const uint from_ = (uint)__cvta_generic_to_shared(slice); \
		const ulong a_ = FACTOR(from_ + THREAD / 128 * 64 * 128), b_ = FACTOR(from_ + ROWS * 128); \
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
		UNROLLED for (int l_ = 0; l_ < LOADS; l_ += 2) /* 32 bytes of a row */ \
			asm volatile( \
			    "{.reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n224k16.f32." MMA_TYPE_ "." MMA_TYPE_ " {" \
			    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
			    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
			    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
			    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
			    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
			    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
			    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
			    "}, %112, %113, p, 1, 1, 0, 0;}" \
			    : EIGHT_(0), EIGHT_(8), EIGHT_(16), EIGHT_(24), \
			      EIGHT_(32), EIGHT_(40), EIGHT_(48), EIGHT_(56), \
			      EIGHT_(64), EIGHT_(72), EIGHT_(80), EIGHT_(88), \
			      EIGHT_(96), EIGHT_(104) \
			    : "l"(a_ + l_), "l"(b_ + l_)); \
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); \
	} while (0)

#else

// Warps have WARP_ROWS × WARP_COLS sums each, in pieces of 16 × 8 as mma.m16n8k16 makes them. ldmatrix brings the factors as it wants
// them, a load of eight rows at a time.
#define WARPS_ACROSS 4
#define WARP_ROWS (ROWS / (BLOCK_THREADS / WARP / WARPS_ACROSS))
#define WARP_COLS (COLS / WARPS_ACROSS)
#define HIGH (WARP_ROWS / 16)
#define WIDE (WARP_COLS / 8)

#define WARP_ROW (THREAD / WARP / WARPS_ACROSS * WARP_ROWS)
#define WARP_COL (THREAD / WARP % WARPS_ACROSS * WARP_COLS)
#define SUMS float sums[HIGH][WIDE][4]
#define ZERO_SUMS() \
	UNROLLED for (int i_ = 0; i_ < HIGH; i_++) \
		UNROLLED for (int j_ = 0; j_ < WIDE; j_++) \
			UNROLLED for (int n_ = 0; n_ < 4; n_++) \
				sums[i_][j_][n_] = 0
#define SUM(i, j, n) sums[i][j][n]
#define COPIED()
#define MULTIPLIED()

DEVICE uint4 matrices_(uint from)
{
	uint4 m;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w) : "r"(from));
	return m;
}
DEVICE void mma_(float *c, const uint4 *a, uint b0, uint b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPE_ "." MMA_TYPE_ ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a->x), "r"(a->y), "r"(a->z), "r"(a->w), "r"(b0), "r"(b1));
}

// Two products have the same loads of B.
#define MULTIPLY(slice) \
	do { \
		const uint from_ = (uint)__cvta_generic_to_shared(slice); \
		UNROLLED for (int l_ = 0; l_ < LOADS; l_ += 4) { \
			uint4 rb_[WIDE]; \
			UNROLLED for (int j_ = 0; j_ < WIDE; j_++) \
				rb_[j_] = matrices_(from_ + 16 * PLACE(ROWS + WARP_COL + j_ * 8 + lane % 8, l_ + lane / 8)); \
			UNROLLED for (int h_ = 0; h_ < 2; h_++) { \
				uint4 ra_[HIGH]; \
				UNROLLED for (int i_ = 0; i_ < HIGH; i_++) \
					ra_[i_] = matrices_(from_ + 16 * PLACE(WARP_ROW + i_ * 16 + lane % 16, l_ + 2 * h_ + lane / 16)); \
				UNROLLED for (int j_ = 0; j_ < WIDE; j_++) \
					UNROLLED for (int i_ = 0; i_ < HIGH; i_++) \
						mma_(sums[i_][j_], &ra_[i_], h_ ? rb_[j_].z : rb_[j_].x, h_ ? rb_[j_].w : rb_[j_].y); \
			} \
		} \
	} while (0)

#endif

// Thread t has, of rows t / 4 and t / 4 + 8 of a piece of 16 × 8, columns 2·(t % 4) and the one after it.
#define PUT_SUMS(to) \
	UNROLLED for (int i_ = 0; i_ < HIGH; i_++) { \
		UNROLLED for (int j_ = 0; j_ < WIDE; j_++) { \
			float *at_ = (to) + (WARP_ROW + i_ * 16 + lane / 4) * PITCH + WARP_COL + j_ * 8 + lane % 4 * 2; \
			*(float2 *)at_ = make_float2(SUM(i_, j_, 0), SUM(i_, j_, 1)); \
			*(float2 *)(at_ + 8 * PITCH) = make_float2(SUM(i_, j_, 2), SUM(i_, j_, 3)); \
		} \
	}

#else

#define STAGES_AT(p) 0
#define BRING(p)
#define COPY16(to, from, there) *(to) = (there) ? *(from) : pack_zero_()
#define COPIES_END()
#define COPIES_BUT(n)
#define COPIED()
#define MULTIPLIED()

// Threads have every AT_A_TIME-th of ROWS rows and every LOADS-th of COLS columns.
#define HIGH (ROWS / AT_A_TIME)
#define WIDE (COLS / LOADS)
#define SUMS float sums[HIGH][WIDE]
#define ZERO_SUMS() \
	for (int i_ = 0; i_ < HIGH; i_++) \
		for (int j_ = 0; j_ < WIDE; j_++) \
			sums[i_][j_] = 0
#define MULTIPLY(slice) \
	for (int l_ = 0; l_ < LOADS; l_++) { \
		VEC ra_[HIGH]; \
		for (int i_ = 0; i_ < HIGH; i_++) \
			ra_[i_] = UNPACK((slice)[PLACE(i_ * AT_A_TIME + line, l_)]); \
		for (int j_ = 0; j_ < WIDE; j_++) { \
			const VEC rb_ = UNPACK((slice)[PLACE(ROWS + j_ * LOADS + load, l_)]); \
			for (int i_ = 0; i_ < HIGH; i_++) \
				DOT_ADD(sums[i_][j_], ra_[i_], rb_); \
		} \
	}
#define PUT_SUMS(to) \
	for (int i_ = 0; i_ < HIGH; i_++) \
		for (int j_ = 0; j_ < WIDE; j_++) \
			(to)[(i_ * AT_A_TIME + line) * PITCH + j_ * LOADS + load] = sums[i_][j_]

#endif

// PITCH is from a row of sums in shared memory to the next: eight banks further, so that four rows of pieces lie in different ones.
#define PITCH (COLS + 8)

// FILL(n) sends slice n of K of the rows from row on, and of the columns, on its way.
#define FILL(n) \
	do { \
		LOCAL uint4 *to_ = stages + (n) % STAGES * STAGE; \
		const int at_ = (n) * LOADS + load, there_ = at_ < loads; \
		UNROLLED for (int u_ = 0; u_ < ROWS / AT_A_TIME; u_++) { \
			const int i_ = row + line + u_ * AT_A_TIME; \
			COPY16(to_ + PLACE(line + u_ * AT_A_TIME, load), ROW_AT(a_rows, i_ < last ? i_ : last, a_bytes) + (there_ ? at_ : 0), there_); \
		} \
		UNROLLED for (int u_ = 0; u_ < COLS / AT_A_TIME; u_++) \
			COPY16(to_ + PLACE(ROWS + line + u_ * AT_A_TIME, load), ROW_AT(b, col[u_], b_bytes) + (there_ ? at_ : 0), there_); \
	} while (0)

// ROW(e) is the row of entry e of the cell, among those of its block.
#define ROW(e) ((int)(FETCH(words + (e)) >> 16))

// FIND_ENTRY(e, row) sets e to the first entry of the cell whose row is not before row; it lies in [e, to_].
#define FIND_ENTRY(e, row) \
	do { \
		if (THREAD == 0) \
			next = 0; \
		e = 0; \
		for (int to_ = row > 0 ? entries : 0; e < to_;) { \
			const int step_ = (to_ - e + BLOCK_THREADS - 1) / BLOCK_THREADS, at_ = e + THREAD * step_; \
			BARRIER(); \
			if (at_ < to_ && ROW(at_) < row && (at_ + step_ >= to_ || ROW(at_ + step_) >= row)) \
				next = at_ + 1; \
			BARRIER(); \
			to_ = next == e ? e : next - 1 + step_ < to_ ? next - 1 + step_ : to_; \
			e = next; \
		} \
	} while (0)

#define LINE_WORDS 32 // of a cache line
#define EACH 8 // entries that a thread looks at together

KERNEL(BLOCK_THREADS, NAME)
(int bands, int height, int columns, int k, IN(long, item), IN(int, cols), IN(uint, places), OUT(float, dots),
 IN(E, a), uint a_bytes, IN(E, b), uint b_bytes SHARED_ARG)
{
	AT_IN(long, item);
	AT_IN(int, cols);
	AT_IN(uint, places);
	AT_OUT(float, dots);
	AT_IN(E, a);
	AT_IN(E, b);
	SHARED int next; // entry that FIND_ENTRY has found
	THREADS_SCRATCH(int, BLOCK_THREADS);
	LOCAL char *shared = SHARED_BYTES + STAGES_AT(SHARED_BYTES);
	LOCAL uint4 *stages = (LOCAL uint4 *)shared;
	LOCAL float *tile = (LOCAL float *)shared;

	const int load = THREAD % LOADS, line = THREAD / LOADS;
#ifdef __CUDA_ARCH__
	const int lane = THREAD % WARP;
#endif
	const int begin = (int)(BLOCK % bands) * height;
	const GLOBAL long *it = item + BLOCK / bands * 4;
	const int first = (int)FETCH(it) * COLS; // column, among cols
	const GLOBAL uint *words = places + FETCH(it + 2);
	GLOBAL float *dot = dots + FETCH(it + 2);
	const int entries = (int)(FETCH(it + 3) - FETCH(it + 2)), loads = k / V, slices = (loads + LOADS - 1) / LOADS;
	const GLOBAL char *a_rows = (const GLOBAL char *)a + FETCH(it + 1) * a_bytes;
	const int last = ROW(entries - 1) < begin + height ? ROW(entries - 1) : begin + height - 1;
	int col[COLS / AT_A_TIME];
	UNROLLED for (int u = 0; u < COLS / AT_A_TIME; u++) {
		const int c = first + line + u * AT_A_TIME;
		col[u] = FETCH(cols + (c < columns ? c : columns - 1));
	}

	int from = -1; // entry that the ROWS rows begin with
	for (int row = begin; row <= last; row += ROWS) {
		UNROLLED for (int n = 0; n < STAGES - 1; n++) {
			FILL(n);
			COPIES_END();
		}
		if (from < 0)
			FIND_ENTRY(from, begin);
		if (from + (THREAD + 1) * LINE_WORDS <= entries)
			BRING(words + from + THREAD * LINE_WORDS);
		SUMS;
		ZERO_SUMS();
		for (int n = 0; n < slices; n++) {
			COPIES_BUT(STAGES - 2);
			COPIED();
			MULTIPLIED();
			BARRIER(); // slice n is there, and slice n - 1 has been used
			MULTIPLY(stages + n % STAGES * STAGE);
			if (n + STAGES - 1 < slices)
				FILL(n + STAGES - 1);
			COPIES_END();
		}
		COPIES_BUT(0);
		MULTIPLIED();
		BARRIER();
		PUT_SUMS(tile);
		BARRIER();
		int taken = 0; // entries of these rows that the thread has had
		for (int e0 = from + THREAD, now = EACH; now == EACH; e0 += EACH * BLOCK_THREADS) {
			uint w[EACH]; // as in words, with the first of these rows as row 0; those of other rows and past the last are too large
			float x[EACH];
			UNROLLED for (int u = 0; u < EACH; u++)
				w[u] = e0 + u * BLOCK_THREADS < entries ? FETCH(words + e0 + u * BLOCK_THREADS) - ((uint)row << 16) : 0xffffffffu;
			now = 0;
			UNROLLED for (int u = 0; u < EACH; u++) {
				x[u] = w[u] < ROWS << 16 ? tile[(w[u] >> 16) * PITCH + (w[u] & 0xffff)] : 0;
				now += w[u] < ROWS << 16;
			}
			GLOBAL float *to = dot + e0;
			UNROLLED for (int u = 0; u < EACH; u++)
				if (w[u] < ROWS << 16)
					to[u * BLOCK_THREADS] = x[u];
			taken += now;
		}
		SUM_THREADS(taken, BLOCK_THREADS); // and slices may come again to where the sums are
		from += taken;
	}
}
