// p_j = α·f(s_j, ⟨A_i, B_c⟩) + β·p_j for the non-zeros j = (i, c): rows of B come from wherever they are cached.
//
// A group of LANES threads has RUN consecutive non-zeros, so that all groups have the same work whatever the rows
// are. It keeps the row of A in registers, CHUNKS loads of V elements a lane, until the row ends. CHUNKS = 0 is
// for rows that no registers hold. UNROLL rows of B are on their way at a time. at, if there, says where in s and p
// the non-zeros belong.
//
// Macros: T, V, LANES, CHUNKS, UNROLL.

#define RUN 32 // and so starts[g] is the row of a group's first non-zero

// row_of returns the row of non-zero j, which lies in [lo, hi].
DEVICE int row_of(const GLOBAL long *row_ptr, long j, int lo, int hi)
{
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (FETCH(row_ptr + mid + 1) > j)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

KERNEL(BLOCK_THREADS, NAME)
(long nnz, int k, int f, T alpha, T beta, IN(long, row_ptr), IN(int, cols), IN(int, starts), IN(long, at), INOUT(T, s), IN(T, a), long lda, IN(T, b), long ldb,
 INOUT(T, p))
{
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(int, starts);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(T, a);
	AT_IN(T, b);
	AT_INOUT(T, p);
	LANES_SCRATCH(T, BLOCK_THREADS);

	const int lane = THREAD % LANES;
	const int loads = k / V; // of a row
	const long group = (BLOCK * BLOCK_THREADS + THREAD) / LANES;
	const long lo = group * RUN < nnz ? group * RUN : nnz - 1;
	const long hi = group * RUN + RUN < nnz ? group * RUN + RUN : nnz; // a group past the end has nothing to write
	int row = FETCH(starts + lo / RUN);
	const int last = FETCH(starts + lo / RUN + 1);
	long end = -1; // of the row that is in ra
#if CHUNKS > 0
	VEC ra[CHUNKS];
#endif

	for (int t = 0; t < RUN; t += UNROLL) {
		T x[UNROLL];
		int col[UNROLL];
#if CHUNKS > 0
		VEC rb[UNROLL][CHUNKS];
#endif
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			const long j = lo + t + u < hi ? lo + t + u : hi - 1;
			col[u] = FETCH(cols + j);
		}
#if CHUNKS > 0
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			const GLOBAL VEC *from = CVECS(b + col[u] * ldb);
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				rb[u][q] = lane + q * LANES < loads ? FETCH(from + lane + q * LANES) : VEC_ZERO;
		}
#endif
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			const long j = lo + t + u < hi ? lo + t + u : hi - 1;
			VEC acc = VEC_ZERO;
			if (j >= end) {
				row = row_of(row_ptr, j, row, last);
				end = FETCH(row_ptr + row + 1);
#if CHUNKS > 0
				const GLOBAL VEC *from = CVECS(a + row * lda);
				UNROLLED for (int q = 0; q < CHUNKS; q++)
					ra[q] = lane + q * LANES < loads ? FETCH(from + lane + q * LANES) : VEC_ZERO;
#endif
			}
#if CHUNKS > 0
			UNROLLED for (int q = 0; q < CHUNKS; q++)
				VEC_MAD(acc, ra[q], rb[u][q]);
#else
			const GLOBAL VEC *ra = CVECS(a + row * lda), *rb = CVECS(b + col[u] * ldb);
			for (int q = lane; q < loads; q += LANES) {
				const VEC va = FETCH(ra + q), vb = FETCH(rb + q);
				VEC_MAD(acc, va, vb);
			}
#endif
			x[u] = VEC_SUM(acc);
		}
		UNROLLED for (int u = 0; u < UNROLL; u++)
			SUM_LANES(x[u], LANES);
		UNROLLED for (int u = 0; u < UNROLL; u++) {
			const long j = group * RUN + t + u;
			if (lane == u % LANES && j < hi) {
				const long z = at ? FETCH(at + j) : j;
				T y = alpha * epilogue(f, f == 0 ? 0 : s[z], x[u]);
				p[z] = beta == 0 ? y : FMA(beta, p[z], y);
			}
		}
	}
}
