// C_i = α·Σ scratch + β·C_i for the rows i whose non-zeros were summed in pieces, in the order of the pieces.
// split holds the row, its first slot and the one after its last.

KERNEL(BLOCK_THREADS, NAME)
(long rows, int k, T alpha, T beta, IN(long, split), IN(T, scratch), INOUT(T, c), long ldc)
{
	AT_IN(long, split);
	AT_IN(T, scratch);
	AT_INOUT(T, c);
	const long x = BLOCK * BLOCK_THREADS + THREAD;
	if (x >= rows * k)
		return;
	const long i = x / k, at = x % k;
	T sum = 0;
	for (long slot = split[3 * i + 1]; slot < split[3 * i + 2]; slot++)
		sum += scratch[slot * k + at];
	GLOBAL T *out = c + split[3 * i] * ldc + at;
	*out = beta == 0 ? alpha * sum : FMA(alpha, sum, beta * *out);
}
