// What gather.h does, for rows of B and C of one element, with the same arguments. There each thread would ask for cache lines
// of indices of its own; here a block is a group, with a run of RUN non-zeros, and its threads take them side by side.
// Products go to shared memory. Then each row of the run has as many threads as there are for it, a power of two: each adds up
// some of its products, and together they add up their sums.
//
// Macros: T, V, which is 1, RUN, a multiple of BLOCK_THREADS.

#define EACH (RUN / BLOCK_THREADS)

KERNEL(BLOCK_THREADS, NAME)
(long nnz, int run, int slice_blocks, int k, T alpha, T beta, IN(int, starts), IN(long, row_ptr), IN(int, cols), IN(long, perm), IN(T, s), IN(E, b), long ldb,
 INOUT(T, c), long ldc, OUT(T, scratch))
{
	AT_IN(int, starts);
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(long, perm);
	AT_IN(T, s);
	AT_IN(E, b);
	AT_INOUT(T, c);
	AT_OUT(T, scratch);
	SHARED T product[RUN];
	THREADS_SCRATCH(T, BLOCK_THREADS);

	const long lo = BLOCK * RUN;
	const int n = nnz - lo < RUN ? (int)(nnz - lo) : RUN;
	// The last row is that of the non-zero after the run, or of the last one of all.
	const int first = FETCH(starts + lo / START_EVERY), last = FETCH(starts + (lo + n + START_EVERY - 1) / START_EVERY);
	int col[EACH];
	T v[EACH];
	UNROLLED for (int u = 0; u < EACH; u++) {
		const int t = u * BLOCK_THREADS + THREAD;
		col[u] = FETCH(cols + lo + (t < n ? t : 0));
	}
	UNROLLED for (int u = 0; u < EACH; u++) {
		const int t = u * BLOCK_THREADS + THREAD;
		const long z = lo + (t < n ? t : 0);
		v[u] = s_base_ == 0 ? 1 : FETCH(s + (perm_base_ == 0 ? z : FETCH(perm + z)));
	}
	UNROLLED for (int u = 0; u < EACH; u++) {
		const T x = UNPACK(FETCH(b + (ulong)(uint)col[u] * (uint)ldb));
		product[u * BLOCK_THREADS + THREAD] = v[u] * x;
	}
	int lanes = BLOCK_THREADS;
	while (lanes > 1 && (long)lanes * (last - first + 1) > BLOCK_THREADS)
		lanes /= 2;
	const int lane = THREAD % lanes;
	long row = first + THREAD / lanes, from = 0, to = 0;
	if (row <= last)
		from = FETCH(row_ptr + row) - lo, to = FETCH(row_ptr + row + 1) - lo;
	BARRIER();
	for (long pass = first; pass <= last; pass += BLOCK_THREADS / lanes) {
		const int at = from > 0 ? (int)from : 0, end = to < n ? (int)to : n; // what the run has of the row: nothing where at >= end
		T sum = 0;
		for (int t = at + lane; t < end; t += lanes)
			sum += product[t];
		if (lanes > 1)
			SUM_THREADS(sum, lanes);
		if (lane == 0 && at < end) {
			if (from < 0 || to > n)
				scratch[2 * BLOCK + (from < 0)] = sum;
			else
				put(c + row * ldc, alpha, sum, beta);
		}
		row += BLOCK_THREADS / lanes;
		from = to = 0;
		if (row <= last)
			from = FETCH(row_ptr + row) - lo, to = FETCH(row_ptr + row + 1) - lo;
	}
}
