// sum = Σ part, by one block.
KERNEL(BLOCK_THREADS, NAME)(OUT(double, sum), IN(double, part), long n)
{
	AT_OUT(double, sum);
	AT_IN(double, part);
	THREADS_SCRATCH(double, BLOCK_THREADS);
	double s = 0;
	for (long i = THREAD; i < n; i += BLOCK_THREADS) s += part[i];
	SUM_THREADS(s, BLOCK_THREADS);
	if (THREAD == 0) sum[0] = s;
}
