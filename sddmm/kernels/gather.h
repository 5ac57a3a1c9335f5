// p_j = α·f(s_j, ⟨A_i, B_c⟩) + β·p_j for the non-zeros j = (i, c): rows of B come from wherever they are cached.
//
// A group of LANES threads has run consecutive non-zeros, a multiple of LANES, so that all groups have the same work whatever
// the rows are. It keeps the row of A in registers, CHUNKS loads of V elements a lane, until the row ends. CHUNKS = 0
// is for rows that no registers hold. UNROLL rows of B are on their way at a time. LANES non-zeros are a batch, which is
// stored at once, one non-zero a lane. at, if there, says where in s and p the non-zeros belong.
//
// Macros: T, V, LANES, CHUNKS, UNROLL, START_EVERY.

// Where the sums of a batch stand in an array, its index must be known.
#if LANES <= 8
#define EACH_STEP UNROLLED
#else
#define EACH_STEP
#endif

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

KERNEL(BLOCK_THREADS, NAME)
(long nnz, int run, int k, int f, T alpha, T beta, IN(long, row_ptr), IN(int, cols), IN(int, starts), IN(long, at), INOUT(T, s), IN(T, a), long lda, IN(T, b),
 long ldb, INOUT(T, p))
{
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(int, starts);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(T, a);
	AT_IN(T, b);
	AT_INOUT(T, p);
	LANES_SCRATCH(T, BLOCK_THREADS);

	const int lane = THREAD % LANES;
	const int loads = k / V; // of a row
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	const long lo = group * run < nnz ? group * run : nnz - 1; // a group past the end repeats the last non-zero
	const int n = group * run >= nnz ? 0 : nnz - lo < run ? (int)(nnz - lo) : run;
	const int last = n > 0 ? n - 1 : 0;
#if UNROLL % 4 == 0
	const int whole = ALIGNED16(cols) && run % 4 == 0; // then four indices are read at a time
#endif
	int row = FETCH(starts + lo / START_EVERY);
	int stop = -1; // where the row that is in ra ends in the run, or -1
#if CHUNKS > 0
	VEC ra[CHUNKS];
#endif

	for (int batch = 0; batch < run; batch += LANES) {
#if LANES <= 8
		T x[LANES];
#else
		T sum = 0;
#endif
		EACH_STEP for (int t = 0; t < LANES; t += UNROLL) {
			int col[UNROLL];
#if CHUNKS > 0
			VEC rb[UNROLL][CHUNKS];
#endif
#if UNROLL % 4 == 0
			if (whole && batch + t + UNROLL <= n) {
				UNROLLED for (int u = 0; u < UNROLL; u += 4)
					FETCH4(int, col[u], cols + lo + batch + t + u);
			} else
#endif
			UNROLLED for (int u = 0; u < UNROLL; u++)
				col[u] = FETCH(cols + lo + (batch + t + u < last ? batch + t + u : last));
#if CHUNKS > 0
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const GLOBAL VEC *from = CVECS(b + col[u] * ldb);
				UNROLLED for (int q = 0; q < CHUNKS; q++)
					rb[u][q] = lane + q * LANES < loads ? FETCH(from + lane + q * LANES) : VEC_ZERO;
			}
#endif
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const int z = batch + t + u < last ? batch + t + u : last;
				VEC acc = VEC_ZERO;
				if (z >= stop) {
					row = row_of(row_ptr, lo + z, row, FETCH(starts + (lo + z) / START_EVERY + 1));
					const long end = FETCH(row_ptr + row + 1) - lo;
					stop = end < run ? (int)end : run;
#if CHUNKS > 0
					const GLOBAL VEC *from = CVECS(a + row * lda);
					UNROLLED for (int q = 0; q < CHUNKS; q++)
						ra[q] = lane + q * LANES < loads ? FETCH(from + lane + q * LANES) : VEC_ZERO;
#endif
				}
#if CHUNKS > 0
				UNROLLED for (int q = 0; q < CHUNKS; q++)
					VEC_MAD(acc, ra[q], rb[u][q]);
#else
				const GLOBAL VEC *ra = CVECS(a + row * lda), *rb = CVECS(b + col[u] * ldb);
				for (int q = lane; q < loads; q += LANES) {
					const VEC va = FETCH(ra + q), vb = FETCH(rb + q);
					VEC_MAD(acc, va, vb);
				}
#endif
#if LANES <= 8
				x[t + u] = VEC_SUM(acc);
#else
				T one = VEC_SUM(acc);
				SUM_LANES(one, LANES);
				sum = lane == t + u ? one : sum;
#endif
			}
		}
#if LANES <= 8
		SCATTER_SUMS(T, x, LANES);
		const T sum = x[0];
#endif
		if (batch + lane < n) {
			const long z = at_base_ == 0 ? lo + batch + lane : FETCH(at + lo + batch + lane);
			const T y = alpha * epilogue(f, f == 0 ? 0 : s[z], sum);
			p[z] = beta == 0 ? y : FMA(beta, p[z], y);
		}
	}
}
