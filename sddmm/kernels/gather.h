// p_j = α·f(s_j, ⟨A_i, B_c⟩) + β·p_j for the non-zeros j = (i, c): rows of B come from wherever they are cached, and the row of
// A stays in registers while its non-zeros last. slices.h says how K is cut.
//
// A group has run consecutive non-zeros, a multiple of LANES, so that all groups have the same work whatever the rows
// are. LANES non-zeros are a batch, which is stored at once, one non-zero a lane; UNROLL rows of B are on their way at a
// time, and so are the columns of the next UNROLL. at, if there, says where in s and p the non-zeros belong.
//
// Macros: T, V, LANES, CHUNKS, UNROLL, AT_LEAST, START_EVERY.

// row_of returns the row of non-zero j, which lies in [lo, hi].
DEVICE int row_of(const GLOBAL long *row_ptr, long j, int lo, int hi)
{
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (FETCH(row_ptr + mid + 1) > j)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// DOT sets x[t + u] to what the lane has of the dot product of the row of A and row u of B.
#define DOT(u) \
	do { \
		ACC acc_ = ACC_ZERO; \
		UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) { \
			const VEC vb_ = UNPACK(rb[u][q_]); \
			ACC_MAD(acc_, ra[q_], vb_); \
		} \
		x[t + (u)] = ACC_SUM(acc_); \
	} while (0)

// BEGIN_ROW sets what is known of the row that ends at end, counted from lo.
#define BEGIN_ROW() \
	do { \
		const GLOBAL PACK *from_ = ROW(a_rows, row, a_bytes); \
		PACK pa_[CHUNKS]; \
		if (full) \
			FETCH_ROW(pa_, from_); \
		else \
			FETCH_PART(pa_, from_); \
		UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
			ra[q_] = UNPACK(pa_[q_]); \
		stop = end < run ? (int)end : run; \
		if (stop < n) \
			next = FETCH(row_ptr + row + 2); \
	} while (0)

KERNEL_AT_LEAST(BLOCK_THREADS, AT_LEAST, NAME)
(long nnz, int run, int k, int slices, int f, T alpha, T beta, IN(long, row_ptr), IN(int, cols), IN(int, starts), IN(long, at), INOUT(T, s),
 IN(E, a), long lda, IN(E, b), long ldb, INOUT(T, p), INOUT(T, dots))
{
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(int, starts);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(E, a);
	AT_IN(E, b);
	AT_INOUT(T, p);
	AT_INOUT(T, dots);
	LANES_SCRATCH(T, BLOCK_THREADS);

	const int lane = THREAD % LANES;
	const int loads = k / V; // of a row
	const int full = loads == LANES * CHUNKS;
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	const long lo = group * run < nnz ? group * run : nnz - 1; // a group past the end repeats the last non-zero
	const int n = group * run >= nnz ? 0 : nnz - lo < run ? (int)(nnz - lo) : run;
	const int last = n > 0 ? n - 1 : 0;
	const int whole = ALIGNED16(cols) && run % 4 == 0;
	const GLOBAL char *a_rows = ROWS(a), *b_rows = ROWS(b);
	const ulong a_bytes = lda * sizeof(E), b_bytes = ldb * sizeof(E);

	int col[UNROLL];
	fetch_indices(col, cols + lo, 0, last, whole);
	int row = row_of(row_ptr, lo, FETCH(starts + lo / START_EVERY), FETCH(starts + lo / START_EVERY + 1));
	long end = FETCH(row_ptr + row + 1) - lo;
	int stop;      // where the row ends in the run
	long next = 0; // where the row after it ends in the pattern
	VEC ra[CHUNKS];
	BEGIN_ROW();

	for (int batch = 0; batch < run; batch += LANES) {
		T x[LANES];
		UNROLLED for (int t = 0; t < LANES; t += UNROLL) {
			const int here = batch + t;
			PACK rb[UNROLL][CHUNKS];
			if (full) {
				UNROLLED for (int u = 0; u < UNROLL; u++)
					FETCH_ROW(rb[u], ROW(b_rows, col[u], b_bytes));
			} else {
				UNROLLED for (int u = 0; u < UNROLL; u++)
					FETCH_PART(rb[u], ROW(b_rows, col[u], b_bytes));
			}
			if (here + UNROLL < run)
				fetch_indices(col, cols + lo, here + UNROLL, last, whole);
			if (here + UNROLL <= stop) {
				UNROLLED for (int u = 0; u < UNROLL; u++)
					DOT(u);
				continue;
			}
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const int z = here + u < last ? here + u : last;
				if (z >= stop) {
					// The next row, unless that has none.
					row++;
					end = next - lo;
					if (z >= end) {
						row = row_of(row_ptr, lo + z, row, FETCH(starts + (lo + z) / START_EVERY + 1));
						end = FETCH(row_ptr + row + 1) - lo;
					}
					BEGIN_ROW();
				}
				DOT(u);
			}
		}
		SCATTER_SUMS(T, x, LANES);
		if (batch + lane < n)
			PUT(lo + batch + lane, x[0]);
	}
}
