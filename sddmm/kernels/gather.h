// p_j = α·f(s_j, ⟨A_i, B_c⟩) + β·p_j for the non-zeros j = (i, c): rows of B come from wherever they are cached, and the row of
// A stays in registers while its non-zeros last. slices.h says how K is cut and how threads share the work, dot.h how they
// multiply.
//
// All warps have equally many non-zeros, so that they have the same work whatever the rows are. A warp knows one row at a time; a
// slab in which it ends is done again with the next row. at, if there, says where in s and p the non-zeros belong.
//
// Macros: T, V, LANES, CHUNKS, MANY_SLICES, UNROLL, AT_LEAST, START_EVERY.

// A lane fetches the index of one non-zero of each LANES slabs, and hands it to the others of its group.
//
// FETCH_OWN(to, from, t) sets an array to the lane's indices of the step that begins at non-zero t of the run; those past the end
// are the last. HAND_INDICES(to, own, t) sets an array to the group's indices of the slabs from t on.
#define FETCH_OWN(to, from, t) \
	UNROLLED for (int h_ = 0; h_ < OWN; h_++) \
		to[h_] = FETCH((from) + ((t) + h_ * WARP < spare ? (t) + h_ * WARP : spare))
#define HAND_INDICES(to, own, t) \
	UNROLLED for (int u_ = 0; u_ < UNROLL; u_++) { \
		if (u_ == 0 || ((t) + u_) % LANES == 0) \
			HAND_OUT(own[((t) + u_) / LANES], LANES); \
		to[u_] = HANDED(own[((t) + u_) / LANES], ((t) + u_) % LANES, LANES); \
	}

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

#define NEVER 0x7fffffff

// STOP_AT(end) sets where the row that ends at end stops in the run, and fetches where the next one ends. Rows have fewer than 2^31
// non-zeros, so 32 bits tell how far an end is.
#define STOP_AT(end) \
	do { \
		const uint far_ = (uint)(end) - (uint)lo; \
		stop = far_ < (uint)n ? (int)far_ : NEVER; \
		if (stop != NEVER) \
			next = (uint)FETCH(row_ptr + row + 2); \
	} while (0)

// NEXT_ROW(h) goes on to the row that has the non-zero at stop, and fetches its row of A.
#define NEXT_ROW(h) \
	do { \
		row++; \
		if (next - (uint)lo == (uint)stop) { \
			row = row_of(row_ptr, lo + stop, row, FETCH(starts + (lo + stop) / START_EVERY + 1)); \
			next = (uint)FETCH(row_ptr + row + 1); \
		} \
		STOP_AT(next); \
		FETCH_HELD(h, row); \
	} while (0)

KERNEL_AT_LEAST(BLOCK_THREADS, AT_LEAST, NAME)
(long nnz, int run, int k, int slices, int f, T alpha, T beta, IN(long, row_ptr), IN(int, cols), IN(int, starts), IN(long, at), INOUT(T, s),
 IN(E, a), STRIDE a_bytes, IN(E, b), STRIDE b_bytes, INOUT(T, p), INOUT(T, dots))
{
	AFTER_EARLIER();
	AT_IN(long, row_ptr);
	AT_IN(int, cols);
	AT_IN(int, starts);
	AT_IN(long, at);
	AT_INOUT(T, s);
	AT_IN(E, a);
	AT_IN(E, b);
	AT_INOUT(T, p);
	AT_INOUT(T, dots);
	LANES_SCRATCH(T, BLOCK_THREADS);
	HANDS(int, BLOCK_THREADS);
	WARP_SHARE();
	for (int k0 = 0; k0 == 0 || MANY_SLICES && k0 < k; k0 += SLICE) {
		SLICE_SHARE();

		const GLOBAL int *my_cols = cols + lo + SPOT(lane);
		const int spare = (n > 0 ? n - 1 : 0) - SPOT(lane); // to the last non-zero
		KEEP(my_cols);
		int own[OWN];
		FETCH_OWN(own, my_cols, 0);
		int row = row_of(row_ptr, lo, FETCH(starts + lo / START_EVERY), FETCH(starts + lo / START_EVERY + 1));
		int stop;      // where the row ends in the run, if it does
		uint next = 0; // where the row after it ends in the pattern
		STOP_AT(FETCH(row_ptr + row + 1));
		HELD ra[HELDS];
		FETCH_HELD(ra, row);

		for (int step = 0; step < run; step += STEP) {
			T x[SLABS], value[OWN];
			UNROLLED for (int t = 0; t < SLABS; t += UNROLL) {
				const int here = step + t * GROUPS, ahead = here + UNROLL * GROUPS;
				PACK rb[UNROLL][CHUNKS];
				int col[UNROLL];
				HAND_INDICES(col, own, t);
				FETCH_ROWS(rb, b_rows, col, b_bytes);
				HELD begun[HELDS];
				int start = stop; // of the next row, which has begun[] if EARLY
				if (EARLY && start < ahead)
					NEXT_ROW(begun);
				if (t + UNROLL == SLABS)
					FETCH_OWN(own, my_cols, ahead);
				if (t == 0)
					FETCH_VALUES(value, step);
				if (start >= ahead) {
					UNROLLED for (int u = 0; u < UNROLL; u++)
						x[t + u] = DOT(ra, rb[u], t + u);
					continue;
				}
				UNROLLED for (int u = 0; u < UNROLL; u++) {
					T sum = DOT(ra, rb[u], t + u);
					while (here + (u + 1) * GROUPS > start) {
						if (!EARLY)
							NEXT_ROW(begun);
						UNROLLED for (int h = 0; h < HELDS; h++)
							ra[h] = begun[h];
						const T again = DOT(ra, rb[u], t + u);
						sum = here + SPOT(u) < start ? sum : again;
						start = stop;
						if (EARLY && start < ahead)
							NEXT_ROW(begun);
					}
					x[t + u] = sum;
				}
			}
			STORE_SUMS(x, value, step);
		}
	}
}
