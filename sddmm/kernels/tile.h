// dots_e = ⟨A_i, B_c⟩ for non-zeros e = (i, c) whose columns lie in panels: the rows of B of a panel of columns stay in
// shared memory while the non-zeros of a block of rows pass (cuSDDMM, algorithm 3, a level further up). tiling.Shared
// has the order of the non-zeros; finish.h puts the results where they belong.
//
// A block of threads takes one item after the other, a panel and rows. For each slice of DEPTH elements of K it
// loads the panel, and then each group of LANES threads has a run of the item's non-zeros, BATCH at a time: it keeps the
// row of A in registers until the row ends, and reads the row of B from shared memory. Sums of slices add up in dots.
//
// LANES = 4: two groups share the eight lanes that read shared memory at a time, and so every other group takes the
// chunks of a row in pairs the other way around, which uses the other half of the banks. Sums over even and odd chunks
// are apart until the end, and so the bits do not depend on the group.
//
// Macros: T, V, LANES, CHUNKS.

#define ROW (LANES * CHUNKS) // vectors of a row of the panel
#define DEPTH (ROW * V)
#define GROUPS (BLOCK_THREADS / LANES)
#define BATCH 8 // words of a group at a time: a sector of 32 bytes
#define EACH (BATCH / LANES)
#define LOADS 4 // vectors of the panel that a thread has on their way

#if CHUNKS > 1
#define PARTS 2 // sums of a lane: over even and over odd chunks
#else
#define PARTS 1
#endif

KERNEL(BLOCK_THREADS, NAME)
(int items, int width, int columns, int k, IN(long, item), IN(int, cols), IN(uint, places), INOUT(int, taken), INOUT(T, dots),
 IN(T, a), long lda, IN(T, b), long ldb SHARED_ARG)
{
	AT_IN(long, item);
	AT_IN(int, cols);
	AT_IN(uint, places);
	AT_INOUT(int, taken);
	AT_INOUT(T, dots);
	AT_IN(T, a);
	AT_IN(T, b);
	LANES_SCRATCH(T, BLOCK_THREADS);
	SHARED int next;
	LOCAL VEC *panel = (LOCAL VEC *)SHARED_BYTES;

	const int lane = THREAD % LANES, group = THREAD / LANES;
#if LANES < 8 && CHUNKS > 1
	const int turn = group % 2 * LANES; // how far an even chunk is from where its pair begins
#else
	const int turn = 0;
#endif

	if (THREAD == 0)
		next = TAKE(taken);
	BARRIER();
	for (int n = next; n < items;) {
		const GLOBAL long *it = item + 4 * n;
		const int first = (int)FETCH(it) * width; // column of the panel, among cols
		const int rows = columns - first < width ? columns - first : width;
		const long row0 = FETCH(it + 1), lo = FETCH(it + 2), hi = FETCH(it + 3);
		const int run = (int)((hi - lo + GROUPS * BATCH - 1) / (GROUPS * BATCH)) * BATCH;
		const long last = lo + (hi - lo - 1) / BATCH * BATCH; // batch

		for (int k0 = 0; k0 < k; k0 += DEPTH) {
			const int loads = k - k0 < DEPTH ? (k - k0) / V : ROW; // vectors of the slice
			for (int v0 = THREAD; v0 < rows * ROW; v0 += BLOCK_THREADS * LOADS) {
				VEC v[LOADS];
				UNROLLED for (int u = 0; u < LOADS; u++) {
					const int x = v0 + u * BLOCK_THREADS;
					v[u] = VEC_ZERO;
					if (x < rows * ROW && x % ROW < loads)
						v[u] = FETCH(CVECS(b + FETCH(cols + first + x / ROW) * ldb + k0) + x % ROW);
				}
				UNROLLED for (int u = 0; u < LOADS; u++)
					if (v0 + u * BLOCK_THREADS < rows * ROW)
						panel[v0 + u * BLOCK_THREADS] = v[u];
			}
			BARRIER();

			VEC ra[CHUNKS];
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				ra[q] = VEC_ZERO;
			int row = -1;
			for (int t = 0; t < run; t += BATCH) {
				const long here = lo + (long)group * run + t; // past the end the last batch is read again
				const long at = here < last ? here : last;
				const GLOBAL uint4 *from = (const GLOBAL uint4 *)(places + at);
				const uint4 w0 = FETCH(from), w1 = FETCH(from + 1);
				const uint w[BATCH] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w};
				UNROLLED for (int e = 0; e < EACH; e++) {
					T x[LANES];
					UNROLLED for (int c = 0; c < LANES; c++) {
						const int r = (int)(w[e * LANES + c] >> 16);
						const LOCAL VEC *rb = panel + (w[e * LANES + c] & 0xffff) * ROW + lane;
						if (r != row) {
							row = r;
							const GLOBAL VEC *ar = CVECS(a + (row0 + r) * lda + k0) + lane;
							UNROLLED for (int q = 0; q < CHUNKS; q++) {
								const int chunk = q * LANES + (q % 2 == 0 ? turn : -turn);
								ra[q] = chunk + lane < loads ? FETCH(ar + chunk) : VEC_ZERO;
							}
						}
						VEC acc[PARTS];
						UNROLLED for (int h = 0; h < PARTS; h++)
							acc[h] = VEC_ZERO;
						UNROLLED for (int q = 0; q < CHUNKS; q++) {
							const VEC vb = rb[q * LANES + (q % 2 == 0 ? turn : -turn)];
							VEC_MAD(acc[q % PARTS], ra[q], vb);
						}
#if PARTS > 1
						VEC_ADD(acc[0], acc[1]);
#endif
						x[c] = VEC_SUM(acc[0]);
					}
					SCATTER_SUMS(T, x, LANES);
					GLOBAL T *dot = dots + here + e * LANES + lane;
					if (here <= last)
						*dot = k0 > 0 ? *dot + x[0] : x[0];
				}
			}
			BARRIER(); // before the panel changes
		}
		if (THREAD == 0)
			next = TAKE(taken);
		BARRIER();
		n = next;
	}
}
