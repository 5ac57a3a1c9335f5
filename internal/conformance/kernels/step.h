// y[i] = 3·y[i] + k for i < n.
KERNEL(BLOCK_THREADS, NAME)(INOUT(T, y), long n, T k)
{
	AT_INOUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	if (i < n)
		y[i] = 3 * y[i] + k;
}
