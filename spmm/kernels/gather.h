// C_i = α·Σ_j s_j·B_c + β·C_i over the non-zeros j = (i, c) of row i.
//
// A group of LANES threads has a run of consecutive non-zeros, run of them, whatever rows they belong to, so that all
// groups go through the same number of steps. Non-zeros are added one by one in their order. A row that lies
// within the run is stored; of one that does not, the sum so far goes to scratch: row 2g+1 of it where the row began in an
// earlier run, else row 2g. The kernel of pieces.h adds those up, and does the rows without non-zeros. A lane
// holds CHUNKS·V columns of C in registers; longer rows are done in slices, all groups one slice before the next, so that a
// slice of B can stay in cache. UNROLL rows of B are on their way at a time.
//
// Macros: T, V, LANES, CHUNKS, UNROLL, a multiple of 4.

#define SLICE (LANES * CHUNKS) // loads of a row

// put sets c = α·sum + β·c.
DEVICE void put(GLOBAL VEC *c, T alpha, VEC sum, T beta)
{
	VEC y = VEC_ZERO;
	if (beta != 0) {
		const VEC old = *c;
		VEC_SCALE_ADD(y, beta, old);
	}
	VEC_SCALE_ADD(y, alpha, sum);
	*c = y;
}

KERNEL(BLOCK_THREADS, NAME)
(long nnz, int run, long slice_blocks, int k, T alpha, T beta, IN(int, starts), IN(long, row_ptr), IN(int, cols), IN(long, perm), IN(T, s), IN(T, b), long ldb,
 INOUT(T, c), long ldc, OUT(T, scratch))
{
	AT_IN(int, starts);
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(long, perm);
	AT_IN(T, s);
	AT_IN(T, b);
	AT_INOUT(T, c);
	AT_OUT(T, scratch);

	const int lane = THREAD % LANES;
	const int loads = k / V;
	const long group = (BLOCK % slice_blocks * BLOCK_THREADS + THREAD) / LANES;
	const int at = (int)(BLOCK / slice_blocks) * SLICE + lane;
	const long lo = group * run;
	if (lo >= nnz)
		return;
	const int n = nnz - lo < run ? (int)(nnz - lo) : run;
	const int first = FETCH(starts + lo / START_EVERY); // the row of non-zero lo
	const int begun = FETCH(row_ptr + first) < lo;      // whether it began in an earlier run

	// Runs begin at multiples of 16 bytes where the buffers do, and groups read four indices and values at a time: what
	// limits short rows is the number of cache lines that a warp asks for.
	const int whole = ALIGNED16(cols), in_order = s_base_ != 0 && perm_base_ == 0 && ALIGNED16(s);

	int row = first, earlier = begun;
	long stop = FETCH(row_ptr + row + 1) - lo; // of the row, within the run or beyond
	VEC acc[CHUNKS];
	UNROLLED for (int q = 0; q < CHUNKS; q++)
		acc[q] = VEC_ZERO;
	for (int t = 0; t < n; t += UNROLL) {
		int col[UNROLL];
		T v[UNROLL];
		VEC rb[UNROLL][CHUNKS];
		if (whole && t + UNROLL <= n) {
			UNROLLED for (int u = 0; u < UNROLL; u += 4)
				FETCH4(int, col[u], cols + lo + t + u);
		} else {
			UNROLLED for (int u = 0; u < UNROLL; u++)
				col[u] = FETCH(cols + lo + (t + u < n ? t + u : t));
		}
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			const GLOBAL VEC *from = CVECS(b + col[u] * ldb);
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				rb[u][q] = at + q * LANES < loads ? FETCH(from + at + q * LANES) : VEC_ZERO;
		}
		if (in_order && t + UNROLL <= n) {
			UNROLLED for (int u = 0; u < UNROLL; u += 4)
				FETCH4(T, v[u], s + lo + t + u);
		} else {
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const long z = lo + (t + u < n ? t + u : t);
				v[u] = s_base_ == 0 ? 1 : FETCH(s + (perm_base_ == 0 ? z : FETCH(perm + z)));
			}
		}
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			if (t + u >= n)
				break;
			if (t + u >= stop) {
				// The row is complete, unless part of it is in scratch already.
				UNROLLED for (int q = 0; q < CHUNKS; q++) {
					const int to = at + q * LANES;
					if (to < loads) {
						if (earlier)
							VECS(scratch + (2 * group + 1) * k)[to] = acc[q];
						else
							put(VECS(c + row * ldc) + to, alpha, acc[q], beta);
					}
					acc[q] = VEC_ZERO;
				}
				earlier = 0;
				do {
					row++;
					stop = FETCH(row_ptr + row + 1) - lo;
				} while (t + u >= stop);
			}
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				VEC_SCALE_ADD(acc[q], v[u], rb[u][q]);
		}
	}
	// The last row of the run.
	UNROLLED for (int q = 0; q < CHUNKS; q++) {
		const int to = at + q * LANES;
		if (to >= loads)
			continue;
		if (earlier || stop > n)
			VECS(scratch + (2 * group + earlier) * k)[to] = acc[q];
		else
			put(VECS(c + row * ldc) + to, alpha, acc[q], beta);
	}
}
