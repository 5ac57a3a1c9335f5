// As gather.h, for patterns with short rows: a group is told the row of each non-zero, and fetches both rows for each. So
// it never waits to learn where a row ends, and rows of A that it fetches again are in L1. The bits are the same.
//
// Macros: T, V, LANES, CHUNKS, UNROLL, AT_LEAST.

KERNEL_AT_LEAST(BLOCK_THREADS, AT_LEAST, NAME)
(long nnz, int run, int k, int slices, int f, T alpha, T beta, IN(int, rows), IN(int, cols), IN(long, at), INOUT(T, s),
 IN(E, a), long lda, IN(E, b), long ldb, INOUT(T, p), INOUT(T, dots))
{
	AT_IN(int, rows);
	AT_IN(int, cols);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(E, a);
	AT_IN(E, b);
	AT_INOUT(T, p);
	AT_INOUT(T, dots);
	LANES_SCRATCH(T, BLOCK_THREADS);

	const int lane = THREAD % LANES;
	const int loads = k / V; // of a row
	const int full = loads == LANES * CHUNKS;
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	const long lo = group * run < nnz ? group * run : nnz - 1; // a group past the end repeats the last non-zero
	const int n = group * run >= nnz ? 0 : nnz - lo < run ? (int)(nnz - lo) : run;
	const int last = n > 0 ? n - 1 : 0;
	const int whole = ALIGNED16(rows) && ALIGNED16(cols) && run % 4 == 0;
	const GLOBAL char *a_rows = ROWS(a), *b_rows = ROWS(b);
	const ulong a_bytes = lda * sizeof(E), b_bytes = ldb * sizeof(E);

	int row[UNROLL], col[UNROLL];
	fetch_indices(row, rows + lo, 0, last, whole);
	fetch_indices(col, cols + lo, 0, last, whole);
	for (int batch = 0; batch < run; batch += LANES) {
		T x[LANES];
		UNROLLED for (int t = 0; t < LANES; t += UNROLL) {
			PACK ra[UNROLL][CHUNKS], rb[UNROLL][CHUNKS];
			if (full) {
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					FETCH_ROW(rb[u], ROW(b_rows, col[u], b_bytes));
					FETCH_ROW(ra[u], ROW(a_rows, row[u], a_bytes));
				}
			} else {
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					FETCH_PART(rb[u], ROW(b_rows, col[u], b_bytes));
					FETCH_PART(ra[u], ROW(a_rows, row[u], a_bytes));
				}
			}
			if (batch + t + UNROLL < run) {
				fetch_indices(row, rows + lo, batch + t + UNROLL, last, whole);
				fetch_indices(col, cols + lo, batch + t + UNROLL, last, whole);
			}
			UNROLLED for (int u = 0; u < UNROLL; u++) {
				ACC acc = ACC_ZERO;
				UNROLLED for (int q = 0; q < CHUNKS; q++) {
					const VEC va = UNPACK(ra[u][q]), vb = UNPACK(rb[u][q]);
					ACC_MAD(acc, va, vb);
				}
				x[t + u] = ACC_SUM(acc);
			}
		}
		SCATTER_SUMS(T, x, LANES);
		if (batch + lane < n)
			PUT(lo + batch + lane, x[0]);
	}
}
