// What the kernels that gather rows of A and B have in common. K is done in slices, a launch each, so that much of a slice of
// B stays in cache; sums of the slices so far wait in dots.
//
// LANES threads are a group. A lane has every LANES-th load of V elements of a row, CHUNKS of them in a slice.

// Which slices a launch is for: there are some before it, and some to come.
#define LATER 1
#define MORE 2

// ROWS(p) is where a lane's loads of row 0 begin, and ROW(rows, i, bytes) where those of row i do: two instructions.
#define ROWS(p) ((const GLOBAL char *)(CPACKS(p) + lane))
#define ROW(rows, i, bytes) ((const GLOBAL PACK *)((rows) + (ulong)(uint)(i) * (bytes)))

// FETCH_ROW(to, from) sets an array of CHUNKS to a lane's loads of a row; for FETCH_PART the slice has only loads of them.
#define FETCH_ROW(to, from) \
	UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
		to[q_] = FETCH((from) + q_ * LANES)
#define FETCH_PART(to, from) \
	UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
		to[q_] = lane + q_ * LANES < loads ? FETCH((from) + q_ * LANES) : PACK_ZERO

// fetch_indices sets an array to UNROLL indices from number t on. Those past the last are the last. whole says that all
// indices begin at multiples of 16 bytes: then four are read at a time, for what limits short rows is the number of cache
// lines that a warp asks for.
DEVICE void fetch_indices(int *to, const GLOBAL int *from, int t, int last, int whole)
{
#if UNROLL % 4 == 0
	if (whole && t + UNROLL <= last + 1) {
		UNROLLED for (int u = 0; u < UNROLL; u += 4)
			FETCH4(int, to[u], from + t + u);
		return;
	}
#endif
	UNROLLED for (int u = 0; u < UNROLL; u++)
		to[u] = FETCH(from + (t + u < last ? t + u : last));
}

// PUT(e, x) does with the sum of a slice what is to be done for dot product e.
#define PUT(e, x) \
	do { \
		const T sum_ = slices & LATER ? dots[e] + (x) : (x); \
		if (slices & MORE) { \
			dots[e] = sum_; \
		} else { \
			const long z_ = at_base_ == 0 ? (e) : FETCH(at + (e)); \
			const T y_ = alpha * epilogue(f, f == 0 ? 0 : s[z_], sum_); \
			p[z_] = beta == 0 ? y_ : FMA(beta, p[z_], y_); \
		} \
	} while (0)
