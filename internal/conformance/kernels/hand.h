// y[i·LANES + l] is x of thread l in the group of LANES threads that thread i is in, plus x of thread i: handed out twice, once
// with its sign changed, so that nothing is read that is of another time.
KERNEL(BLOCK_THREADS, NAME)(IN(int, x), OUT(int, y), long n)
{
	HANDS(int, BLOCK_THREADS);
	AT_IN(int, x);
	AT_OUT(int, y);
	const long i = BLOCK * THREADS + THREAD;
	const int own = i < n ? x[i] : 0, less = -own;
	int sum[LANES];
	HAND_OUT(less, LANES);
	UNROLLED for (int l = 0; l < LANES; l++)
		sum[l] = own + HANDED(less, l, LANES);
	HAND_OUT(own, LANES);
	UNROLLED for (int l = 0; l < LANES; l++)
		sum[l] += 2 * HANDED(own, l, LANES);
	UNROLLED for (int l = 0; l < LANES; l++)
		if (i < n)
			y[i * LANES + l] = sum[l];
}
