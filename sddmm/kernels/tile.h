// dots_e = ⟨A_i, B_c⟩ for non-zeros e = (i, c) whose columns lie in panels: the rows of B of a panel of columns stay in
// shared memory while the non-zeros of a block of rows pass (cuSDDMM, algorithm 3, a level further up). tiling.Shared
// has the order of the non-zeros and what is a share; finish.h puts the results where they belong.
//
// A block of threads takes one share after the other, of some items: a panel and rows each. For each slice of DEPTH elements of K it
// loads the panel, and then each group of LANES threads has a run of the item's non-zeros, BATCH at a time: it keeps the
// row of A in registers until the row ends, and reads the row of B from shared memory. Sums of slices add up in dots. Runs
// of the groups of a warp are equal, and those of warps differ by a batch at most, so that little is done in vain.
//
// A lane has 16 bytes of each LANES · 16, so that eight lanes read a whole cache line of A, and all banks for B, at a time.
//
// Macros: T, V, LANES, CHUNKS.

#define PACKS (LANES * CHUNKS) // of a row of the panel
#define DEPTH (PACKS * V)
#define WARPS (BLOCK_THREADS / WARP)
#define GROUPS (WARP / LANES) // of a warp
#define BATCH LANES           // words of a group at a time, one for each lane
#define LOADS 4               // vectors of the panel that a thread has on their way

// NEXT_ITEM() sets now to the next item of the share or the first of another one, or to -1. The first share of a block of threads has its
// number; taken counts those that blocks take after that, and is not looked at where there are none.
#define NEXT_ITEM() \
	do { \
		if (THREAD == 0 && ++now >= beyond) { \
			const int s_ = beyond == 0 ? (int)BLOCK : shares > BLOCKS ? (int)BLOCKS + TAKE(taken) : shares; \
			now = s_ < shares ? FETCH(share + s_) : -1; \
			beyond = s_ < shares ? FETCH(share + s_ + 1) : 0; \
		} \
		BARRIER(); \
	} while (0)

KERNEL(BLOCK_THREADS, NAME)
(int shares, int width, int columns, int k, IN(int, share), IN(long, item), IN(int, cols), IN(uint, places), INOUT(int, taken), INOUT(T, dots),
 IN(E, a), uint a_bytes, IN(E, b), uint b_bytes SHARED_ARG)
{
	AT_IN(int, share);
	AT_IN(long, item);
	AT_IN(int, cols);
	AT_IN(uint, places);
	AT_INOUT(int, taken);
	AT_INOUT(T, dots);
	AT_IN(E, a);
	AT_IN(E, b);
	LANES_SCRATCH(T, BLOCK_THREADS);
	SHARED int now, beyond; // the item, and the one after the last of the share
	LOCAL PACK *panel = (LOCAL PACK *)SHARED_BYTES;

	const int lane = THREAD % LANES, group = THREAD % WARP / LANES, warp = THREAD / WARP;

	if (THREAD == 0)
		now = beyond = 0;
	NEXT_ITEM();
	for (int n = now; n >= 0; n = now) {
		const GLOBAL long *it = item + 4 * n;
		const int first = (int)FETCH(it) * width; // column of the panel, among cols
		const int rows = columns - first < width ? columns - first : width;
		const long row0 = FETCH(it + 1), lo = FETCH(it + 2);
		const int entries = (int)(FETCH(it + 3) - lo);
		const uint batches = ((uint)entries + GROUPS * BATCH - 1) / (GROUPS * BATCH); // of all warps
		const int before = (int)(batches * (uint)warp / WARPS), run = (int)(batches * (uint)(warp + 1) / WARPS) - before;
		const int start = (before * GROUPS + group * run) * BATCH, end = start + run * BATCH, last = (entries - 1) / BATCH * BATCH; // batch
		const int stop = start + ROUNDS(run, (int)((batches + WARPS - 1) / WARPS)) * BATCH;

		for (int k0 = 0; k0 < k; k0 += DEPTH) {
			const int loads = k - k0 < DEPTH ? (k - k0) / V : PACKS; // vectors of the slice
			for (int v0 = THREAD; v0 < rows * PACKS; v0 += BLOCK_THREADS * LOADS) {
				PACK v[LOADS];
				UNROLLED for (int u = 0; u < LOADS; u++) {
					const int x = v0 + u * BLOCK_THREADS;
					v[u] = PACK_ZERO;
					if (x < rows * PACKS && x % PACKS < loads)
						v[u] = FETCH(ROW_AT(b + k0, FETCH(cols + first + x / PACKS), b_bytes) + x % PACKS);
				}
				UNROLLED for (int u = 0; u < LOADS; u++)
					if (v0 + u * BLOCK_THREADS < rows * PACKS)
						panel[v0 + u * BLOCK_THREADS] = v[u];
			}
			BARRIER();

			const GLOBAL char *a_rows = (const GLOBAL char *)(a + k0) + row0 * a_bytes;
			VEC ra[CHUNKS];
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				ra[q] = VEC_ZERO;
			int row = -1;
			for (int here = start; here < stop; here += BATCH) { // past the item's end its last batch is read again
				const GLOBAL uint4 *from = (const GLOBAL uint4 *)(places + lo + (here < last ? here : last));
				uint w[BATCH];
				UNROLLED for (int c = 0; c < BATCH; c += 4) {
					const uint4 four = FETCH(from + c / 4);
					w[c] = four.x, w[c + 1] = four.y, w[c + 2] = four.z, w[c + 3] = four.w;
				}
				T x[BATCH];
				UNROLLED for (int c = 0; c < BATCH; c++) {
					const int r = (int)(w[c] >> 16);
					if (r != row) {
						row = r;
						const GLOBAL PACK *ar = ROW_AT(a_rows, r, a_bytes) + lane;
						PACK pa[CHUNKS];
						UNROLLED for (int q = 0; q < CHUNKS; q++)
							pa[q] = q * LANES + lane < loads ? FETCH(ar + q * LANES) : PACK_ZERO;
						UNROLLED for (int q = 0; q < CHUNKS; q++)
							ra[q] = UNPACK(pa[q]);
					}
					const LOCAL PACK *rb = panel + (w[c] & 0xffff) * PACKS + lane;
					x[c] = 0;
					UNROLLED for (int q = 0; q < CHUNKS; q++) {
						const VEC vb = UNPACK(rb[q * LANES]);
						DOT_ADD(x[c], ra[q], vb);
					}
				}
				SCATTER_SUMS(T, x, LANES);
				GLOBAL T *dot = dots + lo + here + lane;
				if (here <= last && here < end)
					*dot = k0 > 0 ? *dot + x[0] : x[0];
			}
			BARRIER(); // before the panel changes
		}
		NEXT_ITEM();
	}
}
