// y[i] is the sum of x over the group of LANES threads that thread i is in; n need not be a multiple of anything.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), long n)
{
	LANES_SCRATCH(T, BLOCK_THREADS);
	AT_IN(T, x);
	AT_OUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	T s = i < n ? x[i] : 0;
	SUM_LANES(s, LANES);
	if (i < n)
		y[i] = s;
}
