// y[i] = fma(a, x[i], y[i]) for i < n, in as many rounds as the grid needs.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), INOUT(T, y), long n, T a)
{
	AT_IN(T, x);
	AT_INOUT(T, y);
	for (long i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS)
		y[i] = FMA(a, FETCH(&x[i]), y[i]);
}
