// y[i] is three times the sum of x over the group of lanes threads that thread i is in: once and twice the sum, one right after
// the other.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), long n, int lanes)
{
	THREADS_SCRATCH(T, BLOCK_THREADS);
	AT_IN(T, x);
	AT_OUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	T s = i < n ? x[i] : 0;
	T twice = 2 * s;
	SUM_THREADS(s, lanes);
	SUM_THREADS(twice, lanes);
	if (i < n)
		y[i] = s + twice;
}
