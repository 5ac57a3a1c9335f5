// active[q] += 1 for each of rows rows, 0, every, 2·every, …, that has a non-zero in panel q: width columns in the order that
// places has. A block has each of them, at most ROWS, and a row a bit of what is seen of a panel.

#define SEEN 4096 // panels at a time

KERNEL(BLOCK_THREADS, NAME)
(int rows, int each, long every, int panels, int width, IN(long, row_ptr), IN(int, col_idx), IN(int, places), INOUT(int, active))
{
	AT_IN(long, row_ptr);
	AT_IN(int, col_idx);
	AT_IN(int, places);
	AT_INOUT(int, active);
	SHARED uint seen[SEEN];
	SHARED long ends[2 * ROWS];
	const long block = BLOCK * each;
	const int own = rows - block < each ? (int)(rows - block) : each;
	if (THREAD < own) {
		ends[2 * THREAD] = FETCH(row_ptr + (block + THREAD) * every);
		ends[2 * THREAD + 1] = FETCH(row_ptr + (block + THREAD) * every + 1);
	}
	for (int first = 0; first < panels; first += SEEN) {
		const int here = panels - first < SEEN ? panels - first : SEEN;
		for (int q = THREAD; q < here; q += BLOCK_THREADS)
			seen[q] = 0;
		BARRIER();
		for (int r = 0; r < own; r++) {
			// Each row begins with another warp, for short rows keep only one busy.
			const int lane = (THREAD + r * (BLOCK_THREADS - WARP)) % BLOCK_THREADS;
			for (long z = ends[2 * r] + lane; z < ends[2 * r + 1]; z += BLOCK_THREADS) {
				const int q = FETCH(places + FETCH(col_idx + z)) / width - first;
				if (q >= 0 && q < here)
					MARK(seen + q, 1u << r);
			}
		}
		BARRIER();
		for (int q = THREAD; q < here; q += BLOCK_THREADS)
			if (seen[q] != 0)
				ADD(active + first + q, POPCOUNT(seen[q]));
		BARRIER();
	}
}
