// y[q] = x[at[q]] for q < n.
KERNEL(BLOCK_THREADS, NAME)(long n, IN(T, x), IN(long, at), OUT(T, y))
{
	AT_IN(T, x);
	AT_IN(long, at);
	AT_OUT(T, y);
	const long q = BLOCK * BLOCK_THREADS + THREAD;
	if (q < n)
		y[q] = FETCH(x + FETCH(at + q));
}
