// sum[b] is the sum of the elements of x that block b has, in the order of a tree.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, sum), long n)
{
	SHARED T part[BLOCK_THREADS];
	AT_IN(T, x);
	AT_OUT(T, sum);
	long i = BLOCK * THREADS + THREAD;
	part[THREAD] = i < n ? x[i] : 0;
	BARRIER();
	for (int half_block = BLOCK_THREADS / 2; half_block > 0; half_block /= 2) {
		if (THREAD < half_block)
			part[THREAD] += part[THREAD + half_block];
		BARRIER();
	}
	if (THREAD == 0)
		sum[BLOCK] = part[0];
}
