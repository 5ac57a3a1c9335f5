// Arrays as they come: every block has LOADS loads of 16 bytes a thread, one block after the other.
//
// READ = 1: out_w = the sum of the elements that warp w reads.
// READ = 0: out = in.
//
// There are as many elements as whole blocks have. Macros: READ, LOADS; T is float and V is 4.

KERNEL(BLOCK_THREADS, NAME)(IN(T, in), OUT(T, out))
{
	AT_IN(T, in);
	AT_OUT(T, out);
	const long first = BLOCK * (BLOCK_THREADS * LOADS) + THREAD;
	VEC x[LOADS];
	UNROLLED for (int u = 0; u < LOADS; u++)
		x[u] = FETCH(CVECS(in) + first + u * BLOCK_THREADS);
#if READ
	LANES_SCRATCH(T, BLOCK_THREADS);
	T sum = 0;
	UNROLLED for (int u = 0; u < LOADS; u++)
		sum += VEC_SUM(x[u]);
	SUM_LANES(sum, WARP);
	if (THREAD % WARP == 0)
		out[(BLOCK * BLOCK_THREADS + THREAD) / WARP] = sum;
#else
	UNROLLED for (int u = 0; u < LOADS; u++)
		VECS(out)[first + u * BLOCK_THREADS] = x[u];
#endif
}
