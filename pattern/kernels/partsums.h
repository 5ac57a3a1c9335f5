// sums[b] = the sum of the n numbers' part b, share of them: those of panels, and the first half of a running sum, of which
// scan.h is the second.
KERNEL(BLOCK_THREADS, NAME)(long n, long share, IN(int, x), OUT(long, sums))
{
	AT_IN(int, x);
	AT_OUT(long, sums);
	THREADS_SCRATCH(long, BLOCK_THREADS);
	const long lo = BLOCK * share, hi = n - lo < share ? n : lo + share;
	long sum = 0;
	for (long i = lo + THREAD; i < hi; i += BLOCK_THREADS)
		sum += FETCH(x + i);
	SUM_THREADS(sum, BLOCK_THREADS);
	if (THREAD == 0)
		sums[BLOCK] = sum;
}
