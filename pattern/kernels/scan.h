// y[i] = x[0] + … + x[i-1] for i from 0 to n. Block b has share of these, a multiple of TILE, and sums are those of the parts
// (partsums.h).

#define EACH 4 // numbers of a thread at a time
#define TILE (EACH * BLOCK_THREADS)

KERNEL(BLOCK_THREADS, NAME)(long n, long share, IN(int, x), IN(long, sums), OUT(long, y))
{
	AT_IN(int, x);
	AT_IN(long, sums);
	AT_OUT(long, y);
	THREADS_SCRATCH(long, BLOCK_THREADS);
	SHARED long before[BLOCK_THREADS];

	long base = 0; // the sum of all that precedes the tile
	for (long b = THREAD; b < BLOCK; b += BLOCK_THREADS)
		base += FETCH(sums + b);
	SUM_THREADS(base, BLOCK_THREADS);

	const long end = n + 1 - BLOCK * share < share ? n + 1 : (BLOCK + 1) * share;
	for (long tile = BLOCK * share; tile < end; tile += TILE) {
		const long at = tile + THREAD * EACH;
		int own[EACH];
		long sum = 0;
		UNROLLED for (int u = 0; u < EACH; u++) {
			own[u] = at + u < n ? FETCH(x + at + u) : 0;
			sum += own[u];
		}
		long upto = sum; // of the threads up to this one
		for (int o = 1; o < BLOCK_THREADS; o *= 2) {
			before[THREAD] = upto;
			BARRIER();
			if (THREAD >= o)
				upto += before[THREAD - o];
			BARRIER();
		}
		before[THREAD] = upto;
		BARRIER();
		long next = base + upto - sum;
		UNROLLED for (int u = 0; u < EACH; u++) {
			if (at + u < end)
				y[at + u] = next;
			next += own[u];
		}
		base += before[BLOCK_THREADS - 1];
		BARRIER();
	}
}
