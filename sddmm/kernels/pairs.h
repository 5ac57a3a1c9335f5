// As gather.h, for patterns with short rows: a warp is told the row of each non-zero, and fetches both rows for each. So
// it never waits to learn where a row ends, and rows of A that it fetches again are in L1.
//
// Macros: T, V, LANES, CHUNKS, MANY_SLICES, UNROLL, AT_LEAST.

#define TURN lane
#define GATHER_SUMS(x) SCATTER_SUMS(T, (x), LANES)

// FETCH_INDICES(to, from, t) sets an array to the group's indices of UNROLL slabs, the first of which begins at non-zero t of the
// run, of which from has all. Those past the end are the last.
#define FETCH_INDICES(to, from, t) \
	do { \
		if ((t) + UNROLL * GROUPS <= n) { \
			UNROLLED for (int u_ = 0; u_ < UNROLL; u_++) \
				to[u_] = FETCH((from) + mine + (t) + u_ * GROUPS); \
		} else { \
			UNROLLED for (int u_ = 0; u_ < UNROLL; u_++) { \
				const int z_ = (t) + SPOT(u_); \
				to[u_] = FETCH((from) + (z_ < n ? z_ : n > 0 ? n - 1 : 0)); \
			} \
		} \
	} while (0)

KERNEL_AT_LEAST(BLOCK_THREADS, AT_LEAST, NAME)
(long nnz, int run, int k, int slices, int f, T alpha, T beta, IN(int, rows), IN(int, cols), IN(long, at), INOUT(T, s),
 IN(E, a), STRIDE a_bytes, IN(E, b), STRIDE b_bytes, INOUT(T, p), INOUT(T, dots))
{
	AFTER_EARLIER();
	AT_IN(int, rows);
	AT_IN(int, cols);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(E, a);
	AT_IN(E, b);
	AT_INOUT(T, p);
	AT_INOUT(T, dots);
	LANES_SCRATCH(T, BLOCK_THREADS);
	WARP_SHARE();
	for (int k0 = 0; k0 == 0 || MANY_SLICES && k0 < k; k0 += SLICE) {
		SLICE_SHARE();

		int row[UNROLL], col[UNROLL];
		FETCH_INDICES(row, rows + lo, 0);
		FETCH_INDICES(col, cols + lo, 0);
		for (int step = 0; step < run; step += STEP) {
			T x[SLABS], value[OWN];
			UNROLLED for (int t = 0; t < SLABS; t += UNROLL) {
				const int ahead = step + (t + UNROLL) * GROUPS;
				PACK ra[UNROLL][CHUNKS], rb[UNROLL][CHUNKS];
				FETCH_ROWS(rb, b_rows, col, b_bytes);
				FETCH_ROWS(ra, a_rows, row, a_bytes);
				if (ahead < run) {
					FETCH_INDICES(row, rows + lo, ahead);
					FETCH_INDICES(col, cols + lo, ahead);
				}
				if (t == 0)
					FETCH_VALUES(value, step);
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					x[t + u] = 0;
					UNROLLED for (int q = 0; q < CHUNKS; q++) {
						const VEC va = UNPACK(ra[u][q]), vb = UNPACK(rb[u][q]);
						DOT_ADD(x[t + u], va, vb);
					}
				}
			}
			STORE_SUMS(x, value, step);
		}
	}
}
