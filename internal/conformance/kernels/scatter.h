// Thread i of x has LANES numbers, x[i·LANES] and on; y[i] is the sum over its group of LANES threads of the numbers
// in the place that thread i has in the group. n is a multiple of LANES.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), long n)
{
	LANES_SCRATCH(T, BLOCK_THREADS);
	AT_IN(T, x);
	AT_OUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	T s[LANES];
	UNROLLED for (int t = 0; t < LANES; t++)
		s[t] = i < n ? x[i * LANES + t] : 0;
	SCATTER_SUMS(T, s, LANES);
	if (i < n)
		y[i] = s[0];
}
