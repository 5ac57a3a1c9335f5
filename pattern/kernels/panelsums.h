// sums[q] = the sum of the counts of panel q, width of the cols columns in their order.
KERNEL(BLOCK_THREADS, NAME)(int cols, int width, IN(int, counts), OUT(long, sums))
{
	AT_IN(int, counts);
	AT_OUT(long, sums);
	THREADS_SCRATCH(long, BLOCK_THREADS);
	const long lo = BLOCK * width, hi = cols - lo < width ? cols : lo + width;
	long sum = 0;
	for (long j = lo + THREAD; j < hi; j += BLOCK_THREADS)
		sum += FETCH(counts + j);
	SUM_THREADS(sum, BLOCK_THREADS);
	if (THREAD == 0)
		sums[BLOCK] = sum;
}
