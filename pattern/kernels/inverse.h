// y[x[i]] = i for i < n: the other way of a permutation.
KERNEL(BLOCK_THREADS, NAME)(long n, IN(int, x), OUT(int, y))
{
	AT_IN(int, x);
	AT_OUT(int, y);
	const long i = BLOCK * BLOCK_THREADS + THREAD;
	if (i < n)
		y[FETCH(x + i)] = (int)i;
}
