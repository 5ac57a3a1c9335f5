// C = β·C, and zero for β = 0 whatever it held: SpMM with α = 0, which reads nothing else.

KERNEL(BLOCK_THREADS, NAME)(long rows, int k, T beta, INOUT(T, c), long ldc)
{
	AT_INOUT(T, c);
	const long x = BLOCK * BLOCK_THREADS + THREAD;
	if (x >= rows * k)
		return;
	GLOBAL T *out = c + x / k * ldc + x % k;
	*out = beta == 0 ? 0 : beta * *out;
}
