// part_s = the lower triangle of XᵀX over the rows of split s, cols×cols, in float64: products of float32 are
// exact in float64, so that only the sums round.
//
// A block computes one TILE×TILE tile of one split. It stages CHUNK rows of both column ranges in shared
// memory, as float64 so that each element is converted once. A group of SIDE×SIDE threads covers the
// tile, each thread with 4×4 elements that lie SIDE apart; GROUPS groups share the rows of a chunk.
//
// From compute capability 9.0 on, tiles of 64 columns are the work of tensor cores: each of 8 warps covers 16×32 of the
// tile, in products of 16×8 and 8×8 elements.
#define SIDE (TILE / 4)
#define GROUPS (BLOCK_THREADS / (SIDE * SIDE))
#define CHUNK (4 * BLOCK_THREADS / TILE)

#if TILE == 64 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TENSOR 1
#define PITCH (TILE + 4) // of a staged row: lanes of four rows and eight columns read from different banks
#define FIRST_ROW (THREAD / (2 * WARP) * 16)
#define FIRST_COL (THREAD / WARP % 2 * 32)
// Row and column, in the tile, of the element acc[i][j].
#define ROW(i, j) (FIRST_ROW + (i) / 2 * 8 + THREAD % WARP / 4)
#define COL(i, j) (FIRST_COL + (j) * 8 + THREAD % 4 * 2 + (i) % 2)
#else
#define TENSOR 0
#define PITCH TILE
#define ROW(i, j) (ty + (i) * SIDE)
#define COL(i, j) (tx + (j) * SIDE)
#endif

KERNEL_AT_LEAST(BLOCK_THREADS, 2, NAME)(IN(T, x), long x_stride, OUT(double, part), long rows, long cols, long split_rows)
{
	AT_IN(T, x);
	AT_OUT(double, part);
	SHARED double staged[2 * CHUNK * PITCH];
	const long side = (cols + TILE - 1) / TILE;
	const long pairs = side * (side + 1) / 2;
	const long split = BLOCK / pairs;
	int tile_q = (int)(BLOCK % pairs), tile_p = 0; // the pairs (p, q ≤ p), row by row
	while (tile_q > tile_p) {
		tile_p++;
		tile_q -= tile_p;
	}
	const int right = tile_p == tile_q ? 0 : CHUNK * PITCH; // where the columns q are staged
	const int group = THREAD / (SIDE * SIDE);
#if TENSOR
	// Whether the warp has columns at all, and elements of the lower triangle.
	const int needed = tile_p * TILE + FIRST_ROW < cols && tile_q * TILE + FIRST_COL < cols && (right || FIRST_COL < FIRST_ROW + 16);
#else
	const int tx = THREAD % SIDE, ty = THREAD / SIDE % SIDE;
#endif
	const long begin = split * split_rows;
	const long end = rows - begin < split_rows ? rows : begin + split_rows;

	double acc[4][4];
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) acc[i][j] = 0;
	T p[4], q[4];
	for (long at = begin - CHUNK; at < end; at += CHUNK) {
		// The chunk that was loaded before is staged; the first time there is none.
		const int staging = at >= begin;
		if (staging) {
			for (int e = 0; e < 4; e++) {
				const int n = THREAD + e * BLOCK_THREADS;
				const int to = n / TILE * PITCH + n % TILE;
				staged[to] = p[e];
				if (right) staged[right + to] = q[e];
			}
		}
		BARRIER();
		for (int e = 0; e < 4; e++) {
			const int n = THREAD + e * BLOCK_THREADS;
			const long i = at + CHUNK + n / TILE;
			const long kp = tile_p * TILE + n % TILE, kq = tile_q * TILE + n % TILE;
			p[e] = i < end && kp < cols ? x[i * x_stride + kp] : 0;
			if (right) q[e] = i < end && kq < cols ? x[i * x_stride + kq] : 0;
		}
#if TENSOR
		if (staging && needed) {
			UNROLLED for (int r = 0; r < CHUNK; r += 8) {
				const LOCAL double *from = staged + (r + THREAD % 4) * PITCH + THREAD % WARP / 4;
				double a[4];
				UNROLLED for (int i = 0; i < 4; i++) a[i] = from[FIRST_ROW + i % 2 * 8 + i / 2 * 4 * PITCH];
				UNROLLED for (int j = 0; j < 4; j++) {
					const double b0 = from[right + FIRST_COL + j * 8], b1 = from[right + FIRST_COL + j * 8 + 4 * PITCH];
					asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
						: "+d"(acc[0][j]), "+d"(acc[1][j]), "+d"(acc[2][j]), "+d"(acc[3][j])
						: "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
				}
			}
		}
#else
		if (staging) {
			for (int r = group; r < CHUNK; r += GROUPS) {
				double a[4], b[4];
				for (int i = 0; i < 4; i++) {
					a[i] = staged[r * PITCH + ROW(i, 0)];
					b[i] = staged[right + r * PITCH + COL(0, i)];
				}
				for (int i = 0; i < 4; i++)
					for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
			}
		}
#endif
		BARRIER();
	}

	// The groups' tiles are added up in halves.
	for (int n = GROUPS / 2; n > 0; n /= 2) {
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				const int to = (group - n) * TILE * TILE + ROW(i, j) * TILE + COL(i, j);
				if (group >= n && group < 2 * n) staged[to] = acc[i][j];
			}
		BARRIER();
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				if (group < n) acc[i][j] += staged[group * TILE * TILE + ROW(i, j) * TILE + COL(i, j)];
			}
		BARRIER();
	}
	if (group == 0) {
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				const long kp = tile_p * TILE + ROW(i, j), kq = tile_q * TILE + COL(i, j);
				if (kp < cols && kq <= kp) part[(split * cols + kp) * cols + kq] = acc[i][j];
			}
	}
}
