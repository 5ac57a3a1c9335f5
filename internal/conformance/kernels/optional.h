// y[i] = x[i] for i < n, or -1 without x; and z[i] = y[i] where there is a z.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), OUT(T, z), long n)
{
	AT_IN(T, x);
	AT_OUT(T, y);
	AT_OUT(T, z);
	long i = BLOCK * THREADS + THREAD;
	if (i >= n)
		return;
	T v = x ? x[i] : -1;
	y[i] = v;
	if (z)
		z[i] = v;
}
