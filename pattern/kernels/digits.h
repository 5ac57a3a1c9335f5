// table[d·chunks + c] = how many of the keys of chunk c have the digit d: bits bits of key ^ flip, from shift on. A warp has
// a chunk, of chunk of the n keys.

#define WARPS (BLOCK_THREADS / WARP)

KERNEL(BLOCK_THREADS, NAME)(long n, long chunk, long chunks, int flip, int shift, int bits, IN(int, keys), OUT(int, table))
{
	AT_IN(int, keys);
	AT_OUT(int, table);
	SHARED int counts[WARPS * BINS];
	const int warp = THREAD / WARP, lane = THREAD % WARP, bins = 1 << bits;
	for (int x = THREAD; x < WARPS * BINS; x += BLOCK_THREADS)
		counts[x] = 0;
	BARRIER();
	const long lo = (BLOCK * WARPS + warp) * chunk, hi = n - lo < chunk ? n : lo + chunk;
	for (long at = lo + lane; at < hi; at += EACH * WARP) {
		int digit[EACH];
		UNROLLED for (int u = 0; u < EACH; u++)
			digit[u] = at + u * WARP < hi ? ((FETCH(keys + at + u * WARP) ^ flip) >> shift) & (bins - 1) : -1;
		UNROLLED for (int u = 0; u < EACH; u++)
			if (digit[u] >= 0)
				TAKE(counts + warp * BINS + digit[u]);
	}
	BARRIER();
	for (int x = THREAD; x < WARPS * bins; x += BLOCK_THREADS) {
		const long c = BLOCK * WARPS + x % WARPS;
		if (c < chunks)
			table[x / WARPS * chunks + c] = counts[x % WARPS * BINS + x / WARPS];
	}
}
