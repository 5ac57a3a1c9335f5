// active[q] += 1 for each of the rows 0, every, 2·every, … that has a non-zero in panel q: width columns in the order that
// places has. A block has a row.

#define SEEN 4096 // panels at a time

KERNEL(BLOCK_THREADS, NAME)(int panels, int width, long every, IN(long, row_ptr), IN(int, col_idx), IN(int, places), INOUT(int, active))
{
	AT_IN(long, row_ptr);
	AT_IN(int, col_idx);
	AT_IN(int, places);
	AT_INOUT(int, active);
	SHARED int seen[SEEN];
	const long lo = FETCH(row_ptr + BLOCK * every), hi = FETCH(row_ptr + BLOCK * every + 1);
	for (int first = 0; first < panels; first += SEEN) {
		const int here = panels - first < SEEN ? panels - first : SEEN;
		for (int q = THREAD; q < here; q += BLOCK_THREADS)
			seen[q] = 0;
		BARRIER();
		for (long z = lo + THREAD; z < hi; z += BLOCK_THREADS) {
			const int q = FETCH(places + FETCH(col_idx + z)) / width - first;
			if (q >= 0 && q < here && TAKE(seen + q) == 0)
				TAKE(active + first + q);
		}
		BARRIER();
	}
}
