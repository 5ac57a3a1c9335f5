// What the kernels that gather rows of A and B have in common. K is done in slices, so that much of a slice of B stays in cache;
// sums of the slices so far wait in dots. A launch does one slice or, where all warps run at a time, all of them: warps then stay
// close enough to each other without an end in between.
//
// LANES threads are a group. A lane has every LANES-th load of V elements of a row, CHUNKS of them in a slice.
//
// A warp has run consecutive non-zeros. Its groups take them in turn, so that a warp reads indices and writes sums a cache line
// at a time: what limits short rows is the number of lines that a warp asks for. A slab is one non-zero of each group; UNROLL
// slabs of rows of B are on their way at a time. Of LANES slabs, 32 non-zeros, each lane of a warp ends up with one sum.

// Which slices a launch is for: there are some before its first, and some to come after its last.
#define LATER 1
#define MORE 2

// And what its sums are for: PLAIN ones are only scaled, and those with VALUED have values of S in order.
#define PLAIN 4
#define VALUED 8

#define GROUPS (WARP / LANES)
#define SLABS (LANES > UNROLL ? LANES : UNROLL) // of a step
#define STEP (SLABS * GROUPS)
#define OWN (SLABS / LANES) // sums of a step that a lane ends up with

// SPOT(u) is where the group's non-zero of slab u is in a step.
#define SPOT(u) ((u) * GROUPS + mine)

// ROWS(p) is where a lane's loads of row 0 begin; ROW_AT says where those of others do. Rows that are 2^31 bytes apart or more
// are loaded an element at a time.
#if V == 1
#define STRIDE ulong
#else
#define STRIDE uint
#endif
#define ROWS(p) ((const GLOBAL char *)(CPACKS(p) + lane))

// FETCH_ROW(to, from) sets an array of CHUNKS to a lane's loads of a row; for FETCH_PART the slice has only loads of them.
#define FETCH_ROW(to, from) \
	UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
		to[q_] = FETCH((from) + q_ * LANES)
#define FETCH_PART(to, from) \
	UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
		to[q_] = lane + q_ * LANES < loads ? FETCH((from) + q_ * LANES) : PACK_ZERO

// FETCH_ROWS(to, rows, i, bytes) sets arrays to the group's rows of UNROLL slabs.
#define FETCH_ROWS(to, rows, i, bytes) \
	do { \
		if (full) { \
			UNROLLED for (int u_ = 0; u_ < UNROLL; u_++) \
				FETCH_ROW(to[u_], ROW_AT(rows, i[u_], bytes)); \
		} else { \
			UNROLLED for (int u_ = 0; u_ < UNROLL; u_++) \
				FETCH_PART(to[u_], ROW_AT(rows, i[u_], bytes)); \
		} \
	} while (0)

// WARP_SHARE declares what a thread knows of its share: the run of the warp begins at lo and has n non-zeros, and a slice of
// a row has loads, all that lanes have if full. A warp past the end repeats the last non-zero.
#define WARP_SHARE() \
	const int lane = (uint)THREAD % LANES, mine = (uint)THREAD % WARP / LANES; \
	const long begin_ = (BLOCK * (BLOCK_THREADS / WARP) + (uint)THREAD / WARP) * run; \
	const long lo = begin_ < nnz ? begin_ : nnz - 1; \
	const int n = begin_ >= nnz ? 0 : nnz - lo < run ? (int)(nnz - lo) : run

// SLICE_SHARE declares what a warp knows of the slice from k0 on. Kernels for rows of one slice know that it is the only one.
#define SLICE (LANES * CHUNKS * V)
#if MANY_SLICES
#define SLICES_AROUND ((k0 > 0 ? LATER : slices & LATER) | (k - k0 > SLICE ? MORE : slices & MORE))
#else
#define SLICES_AROUND 0
#endif
#define SLICE_SHARE() \
	const int loads = (k - k0 < SLICE ? k - k0 : SLICE) / V, full = loads == LANES * CHUNKS; \
	int which = SLICES_AROUND; \
	if (which & MORE || (f == 0 && beta == 0 && at_base_ == 0)) \
		which |= PLAIN; \
	if (!MANY_SLICES && f != 0 && at_base_ == 0) \
		which |= VALUED; \
	const T scale = which & MORE ? 1 : alpha; \
	GLOBAL T *to = (which & MORE ? dots : p) + lo + SPOT(TURN); \
	const GLOBAL char *a_rows = ROWS(a + k0), *b_rows = ROWS(b + k0)

// FETCH_VALUES(to, t) sets an array to the values that the lane's sums of the step at t are used with, if they are in order and some are:
// they are on their way together with the rows. Kernels for many slices fetch them when they are used, in the last.
#define FETCH_VALUES(to, t) \
	if (which & VALUED) { \
		UNROLLED for (int h_ = 0; h_ < OWN; h_++) { \
			const int at_ = (t) + SPOT(h_ * LANES + TURN); \
			to[h_] = s[lo + (at_ < n ? at_ : 0)]; \
		} \
	}

// STORE_SUMS(x, value, t) does with what lanes have of the sums of the step at t what is to be done. An epilogue that only scales, and
// sums that wait for more slices, have a short way.
#define STORE_SUMS(x, value, t) \
	UNROLLED for (int h_ = 0; h_ < SLABS; h_ += LANES, to += LANES * GROUPS) { \
		GATHER_SUMS(x + h_); \
		if ((t) + SPOT(h_ + TURN) < n) { \
			const long e_ = lo + (t) + SPOT(h_ + TURN); \
			const T sum_ = which & LATER ? dots[e_] + x[h_] : x[h_]; \
			if (which & PLAIN) { \
				*to = scale * sum_; \
			} else { \
				const long z_ = at_base_ == 0 ? e_ : FETCH(at + e_); \
				const T y_ = alpha * epilogue(f, f == 0 ? 0 : which & VALUED ? value[h_ / LANES] : s[z_], sum_); \
				p[z_] = beta == 0 ? y_ : FMA(beta, p[z_], y_); \
			} \
		} \
	}
