// part[b] = Σ x·y, or Σ w·x·y with WEIGHTED, over the elements of block b, in float64. Which elements
// those are depends on n and the number of blocks alone.
KERNEL(BLOCK_THREADS, NAME)(
#ifdef WEIGHTED
	IN(T, w),
#endif
	IN(T, x), IN(T, y), OUT(double, part), long n)
{
#ifdef WEIGHTED
	AT_IN(T, w);
#endif
	AT_IN(T, x);
	AT_IN(T, y);
	AT_OUT(double, part);
	THREADS_SCRATCH(double, BLOCK_THREADS);
	double sum = 0;
	for (long at = BLOCK * BLOCK_THREADS * UNROLL + THREAD; at < n; at += BLOCKS * BLOCK_THREADS * UNROLL) {
		double a[UNROLL], b[UNROLL];
		for (int u = 0; u < UNROLL; u++) {
			const long i = at + u * BLOCK_THREADS;
			a[u] = i < n ? x[i] : 0;
			b[u] = i < n ? y[i] : 0;
#ifdef WEIGHTED
			a[u] *= i < n ? w[i] : 0;
#endif
		}
		for (int u = 0; u < UNROLL; u++) sum += a[u] * b[u];
	}
	SUM_THREADS(sum, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = sum;
}
