// C_i = α·Σ + β·C_i for the rows i whose sum is in pieces in scratch, as gather.h says, and for those without
// non-zeros. rows holds three numbers for each: the row, the run in which it begins, and the one after that in which it
// ends; these two are equal for a row without non-zeros.
//
// LANES threads have LANES vectors of a row, all rows the first ones before the next. BATCH pieces are on their way at a
// time: a long row has many, and adds them one by one in their order.
//
// Macros: T, V, LANES.

#define BATCH 8

KERNEL(BLOCK_THREADS, NAME)
(long count, int slice_blocks, int k, T alpha, T beta, IN(long, rows), IN(T, scratch), INOUT(T, c), long ldc)
{
	AT_IN(long, rows);
	AT_IN(T, scratch);
	AT_INOUT(T, c);
	const int at = (int)((uint)BLOCK / slice_blocks) * LANES + THREAD % LANES;
	const long i = ((long)((uint)BLOCK % slice_blocks) * BLOCK_THREADS + THREAD) / LANES;
	if (i >= count || at >= k / V)
		return;
	const long run = FETCH(rows + 3 * i + 1), end = FETCH(rows + 3 * i + 2);
	VEC sum = VEC_ZERO;
	if (run < end)
		sum = FETCH(CVECS(scratch + 2 * run * k) + at);
	long r = run + 1;
	for (; r + BATCH <= end; r += BATCH) {
		VEC piece[BATCH];
		UNROLLED for (int u = 0; u < BATCH; u++)
			piece[u] = FETCH(CVECS(scratch + (2 * (r + u) + 1) * k) + at);
		UNROLLED for (int u = 0; u < BATCH; u++)
			VEC_ADD(sum, piece[u]);
	}
	for (; r < end; r++) {
		const VEC piece = FETCH(CVECS(scratch + (2 * r + 1) * k) + at);
		VEC_ADD(sum, piece);
	}
	put(VECS(c + FETCH(rows + 3 * i) * ldc) + at, alpha, sum, beta);
}
