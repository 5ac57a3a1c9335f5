// p_j = β·p_j, and zero for β = 0 whatever it held: SDDMM with α = 0, which reads nothing else.

KERNEL(BLOCK_THREADS, NAME)(long nnz, T beta, INOUT(T, p))
{
	AT_INOUT(T, p);
	const long j = BLOCK * BLOCK_THREADS + THREAD;
	if (j < nnz)
		p[j] = beta == 0 ? 0 : beta * p[j];
}
