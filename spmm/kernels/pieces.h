// C_i = α·Σ + β·C_i for the rows i whose sum is in pieces in scratch, as gather.h says, and for those without
// non-zeros. rows holds three numbers for each: the row, the run in which it begins, and the one after that in which it
// ends; these two are equal for a row without non-zeros, and for α = 0 nothing is read.

KERNEL(BLOCK_THREADS, NAME)
(long count, int k, T alpha, T beta, IN(long, rows), IN(T, scratch), INOUT(T, c), long ldc)
{
	AT_IN(long, rows);
	AT_IN(T, scratch);
	AT_INOUT(T, c);
	const long x = BLOCK * BLOCK_THREADS + THREAD;
	if (x >= count * k)
		return;
	const long i = x / k, at = x % k;
	const long run = FETCH(rows + 3 * i + 1), end = FETCH(rows + 3 * i + 2);
	T sum = 0;
	if (run < end)
		sum = FETCH(scratch + 2 * run * k + at);
	for (long r = run + 1; r < end; r++)
		sum += FETCH(scratch + (2 * r + 1) * k + at);
	GLOBAL T *out = c + FETCH(rows + 3 * i) * ldc + at;
	*out = beta == 0 ? alpha * sum : FMA(alpha, sum, beta * *out);
}
