// C_i = α·Σ_j s_j·B_c + β·C_i over the non-zeros j = (i, c) of row i.
//
// A group of LANES threads has a run of consecutive non-zeros, run of them, whatever rows they belong to, so that all
// groups go through the same number of steps. Non-zeros are added one by one in their order. A row that lies
// within the run is stored; of one that does not, the sum so far goes to scratch: row 2g+1 of it where the row began in an
// earlier run, else row 2g. The kernel of pieces.h adds those up, and does the rows without non-zeros. A lane
// holds CHUNKS·V columns of C in registers; longer rows are done in slices, all groups one slice before the next, so that a
// slice of B can stay in cache. BATCH rows of B are on their way at a time, and the indices of the next ones.
//
// L2 is what should limit it, so instructions are few: a row of B is found with one multiplication of 32 bits, so ldb is
// less than 2^32, and whether a row of C ends is asked once a batch.
//
// With BY_COLUMN a grid has as many blocks as the device holds at a time, and groups go on to further runs. These are in the order of
// an array, one slice after the other: places. Block i has the places from i·apart to i·apart + within, and its groups go on by
// step. So groups of a block have runs that follow each other there and read about the same rows of B, which stay in the
// cache next to a core.
//
// Macros: T, V, LANES, CHUNKS, BY_COLUMN or not, AT_LEAST, blocks on a multiprocessor.

#define SLICE (LANES * CHUNKS) // loads of a row
#define BATCH 8                // a sector of indices, and of values of float

// ROW(j) is where the lane's part of row j of B begins.
#define ROW(j) CPACKS(from + (ulong)(uint)(j) * stride)

// HAS(q) is whether the lane has a chunk q: all have the first one.
#define HAS(q) ((q) == 0 || at + (q) * LANES < loads)

// STOP is the end of row: how many non-zeros of the run are before it, or n + 1 where it is not in the run.
#define STOP() do { \
		const long stop_ = FETCH(row_ptr + row + 1) - lo; \
		stop = stop_ > n ? n + 1 : (int)stop_; \
	} while (0)

// VALUE(t) is the value of non-zero t of the run.
#define VALUE(t) (s_base_ == 0 ? 1 : FETCH(s + (perm_base_ == 0 ? lo + (t) : FETCH(perm + lo + (t)))))

// LOAD_INDICES(t) fetches those of a batch, four at a time: what limits short rows is the number of cache lines that a warp
// asks for. Runs begin at multiples of 16 bytes, because cols does.
#define LOAD_INDICES(t) do { \
		UNROLLED for (int u = 0; u < BATCH; u += 4) \
			FETCH4(int, col[u], cols + lo + (t) + u); \
	} while (0)

// ADD_ROW(v, row) adds v times a row of B.
#define ADD_ROW(v, row) \
	UNROLLED for (int q = 0; q < CHUNKS; q++) { \
		const VEC x_ = UNPACK(row[q]); \
		VEC_SCALE_ADD(acc[q], v, x_); \
	}

// NEXT_ROW(t) ends rows up to that of non-zero t of the run.
#define NEXT_ROW(t) do { \
		UNROLLED for (int q = 0; q < CHUNKS; q++) { \
			if (HAS(q) && earlier) \
				VECS(scratch + (2 * group + 1) * k)[at + q * LANES] = acc[q]; \
			else if (HAS(q)) \
				put(VECS(c + row * ldc) + at + q * LANES, alpha, acc[q], beta); \
			acc[q] = VEC_ZERO; \
		} \
		earlier = 0; \
		do { \
			row++; \
			STOP(); \
		} while ((t) >= stop); \
	} while (0)

// FOR_RUNS is followed by what is done for each run of the group, number RUN, and each slice, number SLICE_OF_RUN.
#ifdef BY_COLUMN
#define FOR_RUNS \
	for (int place = (int)BLOCK * apart + THREAD / LANES, end = (int)BLOCK * apart + within; place < end && place < places; place += step)
#define RUN FETCH(order + (uint)place % slice_blocks)
#define SLICE_OF_RUN (int)((uint)place / slice_blocks)
#else
#define FOR_RUNS for (int once = 1; once; once = 0)
#define RUN ((long)((uint)BLOCK % slice_blocks) * BLOCK_THREADS + THREAD) / LANES
#define SLICE_OF_RUN (int)((uint)BLOCK / slice_blocks)
#endif

KERNEL_AT_LEAST(BLOCK_THREADS, AT_LEAST, NAME)
(long nnz, int run, int slice_blocks, int k, T alpha, T beta, IN(int, starts), IN(long, row_ptr), IN(int, cols), IN(long, perm), IN(T, s), IN(E, b), long ldb,
 INOUT(T, c), long ldc, OUT(T, scratch)
#ifdef BY_COLUMN
 , IN(int, order), int places, int apart, int within, int step // order has slice_blocks runs
#endif
)
{
	AT_IN(int, starts);
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(long, perm);
	AT_IN(T, s);
	AT_IN(E, b);
	AT_INOUT(T, c);
	AT_OUT(T, scratch);

	const int loads = k / V;
#ifdef BY_COLUMN
	AT_IN(int, order);
#endif
	const uint stride = (uint)ldb;
	const int in_order = s_base_ != 0 && perm_base_ == 0 && ALIGNED16(s);
	FOR_RUNS {
		const int at = SLICE_OF_RUN * SLICE + THREAD % LANES;
		const long group = RUN;
		const long lo = group * run;
		if (lo >= nnz || at >= loads)
			continue;
		const int n = nnz - lo < run ? (int)(nnz - lo) : run;
		const GLOBAL E *from = b + at * V;

		int row = FETCH(starts + lo / START_EVERY);   // that of non-zero lo
		int earlier = FETCH(row_ptr + row) < lo, stop; // earlier: whether it began in an earlier run
		STOP();
		VEC acc[CHUNKS];
		UNROLLED for (int q = 0; q < CHUNKS; q++)
			acc[q] = VEC_ZERO;

		int t = 0, col[BATCH];
		if (n >= BATCH)
			LOAD_INDICES(0);
		for (; t + BATCH <= n; t += BATCH) {
			T v[BATCH];
			PACK rb[BATCH][CHUNKS];
			UNROLLED for (int u = 0; u < BATCH; u++) {
				UNROLLED for (int q = 0; q < CHUNKS; q++)
					rb[u][q] = HAS(q) ? FETCH(ROW(col[u]) + q * LANES) : PACK_ZERO;
			}
			if (in_order) {
				UNROLLED for (int u = 0; u < BATCH; u += 4)
					FETCH4(T, v[u], s + lo + t + u);
			} else {
				UNROLLED for (int u = 0; u < BATCH; u++)
					v[u] = VALUE(t + u);
			}
			if (t + 2 * BATCH <= n)
				LOAD_INDICES(t + BATCH);
			if (t + BATCH <= stop) {
				UNROLLED for (int u = 0; u < BATCH; u++)
					ADD_ROW(v[u], rb[u]);
			} else {
				UNROLLED for (int u = 0; u < BATCH; u++) {
					if (t + u >= stop)
						NEXT_ROW(t + u);
					ADD_ROW(v[u], rb[u]);
				}
			}
		}
		for (; t < n; t++) {
			const T v = VALUE(t);
			const GLOBAL PACK *rb = ROW(FETCH(cols + lo + t));
			if (t >= stop)
				NEXT_ROW(t);
			UNROLLED for (int q = 0; q < CHUNKS; q++) {
				if (HAS(q)) {
					const VEC x = UNPACK(FETCH(rb + q * LANES));
					VEC_SCALE_ADD(acc[q], v, x);
				}
			}
		}
		// The last row of the run.
		UNROLLED for (int q = 0; q < CHUNKS; q++) {
			if (HAS(q) && (earlier || stop > n))
				VECS(scratch + (2 * group + earlier) * k)[at + q * LANES] = acc[q];
			else if (HAS(q))
				put(VECS(c + row * ldc) + at + q * LANES, alpha, acc[q], beta);
		}
	}
}
