// part[b] = Σ w_i·‖X_i‖² over the rows of block b, in float64. Which rows those are depends on the sizes
// and the number of blocks alone.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), long x_stride, IN(T, w), OUT(double, part), long rows, long cols, int lanes)
{
	AT_IN(T, x);
	AT_IN(T, w);
	AT_OUT(double, part);
	THREADS_SCRATCH(double, BLOCK_THREADS);
	const long step = BLOCK_THREADS / lanes;
	double sum = 0;
	for (long at = BLOCK * step * UNROLL + THREAD / lanes; at < rows; at += BLOCKS * step * UNROLL) {
		double norm[UNROLL];
		for (int u = 0; u < UNROLL; u++) norm[u] = 0;
		for (long k = THREAD % lanes; k < cols; k += lanes) {
			for (int u = 0; u < UNROLL; u++) {
				const long i = at + u * step;
				const double v = i < rows ? x[i * x_stride + k] : 0;
				norm[u] += v * v;
			}
		}
		for (int u = 0; u < UNROLL; u++) {
			const long i = at + u * step;
			if (i < rows) sum += (double)w[i] * norm[u];
		}
	}
	SUM_THREADS(sum, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = sum;
}
