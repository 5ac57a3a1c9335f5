// out_g = the sum of all elements of the rows of B that group g asks for: rows cols_j for RUN consecutive non-zeros j.
// It reads what SDDMM and SpMM read of B, in the order of a pattern, and does next to nothing with it.
//
// A group of LANES threads reads CHUNKS loads of V elements a lane at a time, UNROLL rows of them on their way; longer
// rows are read in slices.
//
// Macros: T, V, LANES, CHUNKS, UNROLL, RUN.

#define SLICE (LANES * CHUNKS) // loads of a row at a time

KERNEL(BLOCK_THREADS, NAME)(long nnz, int k, IN(int, cols), IN(E, b), long ldb, OUT(T, out))
{
	AT_IN(int, cols);
	AT_IN(E, b);
	AT_OUT(T, out);
	LANES_SCRATCH(T, BLOCK_THREADS);

	const int lane = THREAD % LANES;
	const int loads = k / V;
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	const long lo = group * RUN;
	VEC acc[CHUNKS];
	UNROLLED for (int q = 0; q < CHUNKS; q++)
		acc[q] = VEC_ZERO;
	for (int start = 0; start < loads; start += SLICE) {
		int at[CHUNKS];
		T use[CHUNKS];
		UNROLLED for (int q = 0; q < CHUNKS; q++) {
			const int load = start + lane + q * LANES;
			at[q] = load < loads ? load : loads - 1;
			use[q] = load < loads;
		}
		// Nothing branches around a load: past an end the last one is read again and not used.
		for (int t = 0; t < RUN; t += UNROLL) {
			int col[UNROLL];
			PACK rb[UNROLL][CHUNKS];
			UNROLLED for (int u = 0; u < UNROLL; u++)
				col[u] = FETCH(cols + (lo + t + u < nnz ? lo + t + u : nnz - 1));
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const GLOBAL PACK *from = CPACKS(b + col[u] * ldb);
				UNROLLED for (int q = 0; q < CHUNKS; q++)
					rb[u][q] = FETCH(from + at[q]);
			}
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				const T inside = lo + t + u < nnz;
				UNROLLED for (int q = 0; q < CHUNKS; q++) {
					const VEC vb = UNPACK(rb[u][q]);
					VEC_SCALE_ADD(acc[q], inside * use[q], vb);
				}
			}
		}
	}
	T sum = 0;
	UNROLLED for (int q = 0; q < CHUNKS; q++)
		sum += VEC_SUM(acc[q]);
	SUM_LANES(sum, LANES);
	if (lane == 0 && lo < nnz)
		out[group] = sum;
}
