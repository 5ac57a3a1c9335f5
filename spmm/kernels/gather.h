// C_i = α·Σ_j s_j·B_c + β·C_i over the non-zeros j = (i, c) of row i.
//
// A group of LANES threads has one unit of work: a run of whole rows with about as many non-zeros as any other
// unit, or a piece of one long row, whose sum goes to its slot of scratch. Non-zeros are added one by one in their order,
// so that no bit depends on what the device does at the same time. A lane holds CHUNKS·V columns of C in
// registers; longer rows are done in slices. UNROLL rows of B are on their way at a time.
//
// Macros: T, V, LANES, CHUNKS, UNROLL.

#define SLICE (LANES * CHUNKS) // loads of a row at a time

KERNEL(BLOCK_THREADS, NAME)
(long units, int k, T alpha, T beta, IN(long, unit), IN(long, row_ptr), IN(int, cols), IN(long, perm), IN(T, s), IN(T, b), long ldb, INOUT(T, c),
 long ldc, OUT(T, scratch))
{
	AT_IN(long, unit);
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(long, perm);
	AT_IN(T, s);
	AT_IN(T, b);
	AT_INOUT(T, c);
	AT_OUT(T, scratch);

	const int lane = THREAD % LANES;
	const int loads = k / V;
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	if (group >= units)
		return;
	const long row_lo = unit[5 * group], row_hi = unit[5 * group + 1];
	const long lo = unit[5 * group + 2], hi = unit[5 * group + 3];
	const long slot = unit[5 * group + 4];

	for (int start = 0; start < loads; start += SLICE) {
		const int at = start + lane;
		for (long row = row_lo; row < row_hi; row++) {
			VEC acc[CHUNKS];
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				acc[q] = VEC_ZERO;
			long j = slot < 0 ? FETCH(row_ptr + row) : lo;
			const long end = alpha == 0 ? j : slot < 0 ? FETCH(row_ptr + row + 1) : hi;
			for (; j < end; j += UNROLL) {
				int col[UNROLL];
				T v[UNROLL];
				VEC rb[UNROLL][CHUNKS];
				UNROLLED for (int u = 0; u < UNROLL; u++)
					col[u] = FETCH(cols + (j + u < end ? j + u : j));
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					const GLOBAL VEC *from = CVECS(b + col[u] * ldb);
					UNROLLED for (int q = 0; q < CHUNKS; q++)
						rb[u][q] = at + q * LANES < loads ? FETCH(from + at + q * LANES) : VEC_ZERO;
				}
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					const long z = j + u < end ? j + u : j;
					v[u] = s_base_ == 0 ? 1 : FETCH(s + (perm_base_ == 0 ? z : FETCH(perm + z)));
				}
				UNROLLED for (int u = 0; u < UNROLL; u++)
					if (j + u < end)
						UNROLLED for (int q = 0; q < CHUNKS; q++)
							VEC_SCALE_ADD(acc[q], v[u], rb[u][q]);
			}
			UNROLLED for (int q = 0; q < CHUNKS; q++) {
				const int to = at + q * LANES;
				if (to >= loads)
					continue;
				if (slot >= 0) {
					VECS(scratch + slot * k)[to] = acc[q];
					continue;
				}
				GLOBAL VEC *out = VECS(c + row * ldc) + to;
				VEC y = VEC_ZERO;
				if (beta != 0) {
					const VEC old = *out;
					VEC_SCALE_ADD(y, beta, old);
				}
				VEC_SCALE_ADD(y, alpha, acc[q]);
				*out = y;
			}
		}
	}
}
