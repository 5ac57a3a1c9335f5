// part[s·cols + k] = Σ X_ik over the rows i of split s, in float64. A block sums lanes columns, a power
// of two, over one split; blocks of the same split stand next to each other.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), long x_stride, OUT(double, part), long rows, long cols, int lanes, long split_rows)
{
	AT_IN(T, x);
	AT_OUT(double, part);
	SHARED double scratch[BLOCK_THREADS];
	const long groups = (cols + lanes - 1) / lanes;
	const long split = BLOCK / groups;
	const long k = BLOCK % groups * lanes + THREAD % lanes;
	const long step = BLOCK_THREADS / lanes;
	const long left = rows - split * split_rows;
	const long end = split * split_rows + (left < split_rows ? left : split_rows);
	double sum = 0;
	if (k < cols) {
		for (long at = split * split_rows + THREAD / lanes; at < end; at += step * UNROLL) {
			double v[UNROLL];
			for (int u = 0; u < UNROLL; u++) {
				const long i = at + u * step;
				v[u] = i < end ? x[i * x_stride + k] : 0;
			}
			for (int u = 0; u < UNROLL; u++) sum += v[u];
		}
	}
	for (int n = BLOCK_THREADS / 2; n >= lanes; n /= 2) {
		scratch[THREAD] = sum;
		BARRIER();
		if (THREAD < n) sum += scratch[THREAD + n];
		BARRIER();
	}
	if (THREAD < lanes && k < cols) part[split * cols + k] = sum;
}
