// first[j] = how many of the n sorted numbers are less than bound[j], or than j itself without bounds, for j < m.
KERNEL(BLOCK_THREADS, NAME)(long n, long m, IN(T, x), IN(long, bound), OUT(long, first))
{
	AT_IN(T, x);
	AT_IN(long, bound);
	AT_OUT(long, first);
	const long j = BLOCK * BLOCK_THREADS + THREAD;
	if (j >= m)
		return;
	const long b = bound_base_ != 0 ? FETCH(bound + j) : j;
	long lo = 0, hi = n;
	while (lo < hi) {
		const long mid = lo + (hi - lo) / 2;
		if (FETCH(x + mid) < b)
			lo = mid + 1;
		else
			hi = mid;
	}
	first[j] = lo;
}
