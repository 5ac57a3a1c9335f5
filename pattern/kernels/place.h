// One pass of a stable sort: the keys, and the values that come with them, in the order of their digits, keys of the same digit
// in the order in which they stood. Values are of type FROM and become VALUE; without any they are 0, 1, …. Chunks and digits are those of digits.h, and
// table[d·chunks + c] is where the first key of digit d in chunk c goes.
//
// A warp goes through its chunk 32 keys at a time. Of those with the same digit each goes behind the ones in lower lanes.

#define WARPS (BLOCK_THREADS / WARP)

KERNEL(BLOCK_THREADS, NAME)
(long n, long chunk, long chunks, int flip, int shift, int bits, IN(int, keys), IN(FROM, values), IN(long, table), OUT(int, sorted), OUT(VALUE, moved))
{
	AT_IN(int, keys);
	AT_IN(FROM, values);
	AT_IN(long, table);
	AT_OUT(int, sorted);
	AT_OUT(VALUE, moved);
	SHARED long next[WARPS * BINS]; // where the next key of each digit goes
	LANES_SCRATCH(int, BLOCK_THREADS);
	const int warp = THREAD / WARP, lane = THREAD % WARP, bins = 1 << bits, given = values_base_ != 0;
	for (int x = THREAD; x < WARPS * bins; x += BLOCK_THREADS) {
		const long c = BLOCK * WARPS + x % WARPS;
		next[x % WARPS * BINS + x / WARPS] = c < chunks ? FETCH(table + x / WARPS * chunks + c) : 0;
	}
	BARRIER();
	const long lo = (BLOCK * WARPS + warp) * chunk, hi = n - lo < chunk ? n : lo + chunk;
	for (long done = 0; done < chunk; done += EACH * WARP) {
		int key[EACH];
		VALUE value[EACH];
		UNROLLED for (int u = 0; u < EACH; u++) {
			const long z = lo + done + u * WARP + lane;
			key[u] = z < hi ? FETCH(keys + z) : 0;
			value[u] = z < hi && given ? (VALUE)FETCH(values + z) : (VALUE)z;
		}
		UNROLLED for (int u = 0; u < EACH; u++) {
			const long left = hi - (lo + done + u * WARP); // keys from lane 0 on
			const int digit = ((key[u] ^ flip) >> shift) & (bins - 1);
			uint same;
			SAME_LANES(same, digit, bits);
			if (left < WARP)
				same &= left > 0 ? (1u << left) - 1 : 0;
			const int before = POPCOUNT(same & ((1u << lane) - 1));
			LOCAL long *to = next + warp * BINS + digit;
			const long at = *to + before;
			WARP_BARRIER();
			if (lane < left && before == 0)
				*to = at + POPCOUNT(same);
			WARP_BARRIER();
			if (lane < left) {
				sorted[at] = key[u];
				moved[at] = value[u];
			}
		}
	}
}
