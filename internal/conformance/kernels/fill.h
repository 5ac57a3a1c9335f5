// y[i] = value for i < n.
KERNEL(BLOCK_THREADS, NAME)(OUT(T, y), long n, T value)
{
	AT_OUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	if (i < n)
		y[i] = value;
}
