// c += α·x·g for x rows×depth and g depth×cols.
//
// across threads compute COLS columns each of HEIGHT rows, and the block as many rows as its threads allow: across
// is an argument, so that few are idle whatever cols is. DEPTH columns of x, 32 bytes, and as many rows of α·g are staged in
// shared memory at a time, x transposed, while the next are on their way. Blocks of the same rows stand next to each other.
#define DEPTH (2 * W)
#define MOST_ROWS (BLOCK_THREADS / LEAST_ACROSS * HEIGHT)
#define MOST_COLS (MOST_ACROSS * COLS)
#define PITCH (MOST_ROWS + W) // of the staged x: threads that stage it write to different banks

// Column j of a thread.
#define COLUMN(j) ((j) / V * (across * V) + tx * V + (j) % V)

// What a thread stages: ROWS_X vectors of x, and ROWS_G of g.
#define VECTORS_X (DEPTH / V) // across
#define VECTORS_G (MOST_COLS / V)
#define STEP_X (BLOCK_THREADS / VECTORS_X)
#define STEP_G (BLOCK_THREADS / VECTORS_G)
#define ROWS_X (MOST_ROWS / STEP_X)
#define ROWS_G ((DEPTH + STEP_G - 1) / STEP_G)

#define FETCH_STAGE(at) \
	do { \
		UNROLLED for (int e = 0; e < ROWS_X; e++) { \
			UNROLLED for (int v = 0; v < V; v++) xn[e][v] = 0; \
			if (x_row + e * STEP_X < down && (at) + x_k < depth) LOAD_V(GLOBAL, xn[e], x_from + e * STEP_X * x_stride + (at)); \
		} \
		UNROLLED for (int e = 0; e < ROWS_G; e++) { \
			const int k = g_k + e * STEP_G; \
			UNROLLED for (int v = 0; v < V; v++) gn[e][v] = 0; \
			if (k < DEPTH && (at) + k < depth && g_col < wide) LOAD_V(GLOBAL, gn[e], g_from + ((at) + e * STEP_G) * g_stride); \
		} \
	} while (0)
#define PUT_STAGE(xs, gs) \
	do { \
		UNROLLED for (int e = 0; e < ROWS_X; e++) \
			UNROLLED for (int v = 0; v < V; v++) xs[(x_k + v) * PITCH + x_row + e * STEP_X] = xn[e][v]; \
		UNROLLED for (int e = 0; e < ROWS_G; e++) { \
			const int k = g_k + e * STEP_G; \
			UNROLLED for (int v = 0; v < V; v++) \
				if (k < DEPTH) gs[k * MOST_COLS + g_col + v] = alpha * gn[e][v]; \
		} \
	} while (0)

KERNEL_AT_LEAST(BLOCK_THREADS, 2, NAME)(INOUT(T, c), long c_stride, T alpha, IN(T, x), long x_stride, IN(T, g), long g_stride,
	long rows, long depth, long cols, int across)
{
	AT_INOUT(T, c);
	AT_IN(T, x);
	AT_IN(T, g);
	SHARED WIDE x_stages[2 * DEPTH * PITCH / W]; // two of each, one of which is worked on
	SHARED WIDE g_stages[2 * DEPTH * MOST_COLS / W];
	LOCAL T *xs = (LOCAL T *)x_stages;
	LOCAL T *gs = (LOCAL T *)g_stages;

	const int height = BLOCK_THREADS / across * HEIGHT, width = across * COLS;
	const long tiles = (cols + width - 1) / width;
	const long row = BLOCK / tiles * height, col = BLOCK % tiles * width;
	const int down = rows - row < height ? (int)(rows - row) : height;
	const int wide = cols - col < width ? (int)(cols - col) : width;
	const int tx = THREAD % across, ty = THREAD / across;
	const int mine = down - ty * HEIGHT; // rows of this thread, at most HEIGHT; not positive where there are none
	const int x_row = THREAD / VECTORS_X, x_k = THREAD % VECTORS_X * V;
	const int g_k = THREAD / VECTORS_G, g_col = THREAD % VECTORS_G * V;
	const GLOBAL T *x_from = x + (row + x_row) * x_stride + x_k;
	const GLOBAL T *g_from = g + g_k * g_stride + col + g_col;
	GLOBAL T *to = c + (row + ty * HEIGHT) * c_stride + col;

	T acc[HEIGHT][COLS], xn[ROWS_X][V], gn[ROWS_G][V];
	FETCH_STAGE(0);
	UNROLLED for (int i = 0; i < HEIGHT; i++) {
		UNROLLED for (int j = 0; j < COLS; j += V) {
			UNROLLED for (int v = 0; v < V; v++) acc[i][j + v] = 0;
			if (i < mine && COLUMN(j) < wide) LOAD_V(GLOBAL, acc[i] + j, to + i * c_stride + COLUMN(j));
		}
	}
	PUT_STAGE(xs, gs);
	BARRIER();
	int stage = 0;
	for (long at = 0; at < depth; at += DEPTH) {
		const LOCAL T *x_now = xs + stage * DEPTH * PITCH + ty * HEIGHT;
		const LOCAL T *g_now = gs + stage * DEPTH * MOST_COLS;
		const int more = at + DEPTH < depth;
		if (more) FETCH_STAGE(at + DEPTH);
		UNROLLED for (int k = 0; k < DEPTH; k++) {
			T a[HEIGHT], b[COLS];
			UNROLLED for (int i = 0; i < HEIGHT; i += W) LOAD_WIDE(LOCAL, a + i, x_now + k * PITCH + i);
			UNROLLED for (int j = 0; j < COLS; j += V) LOAD_V(LOCAL, b + j, g_now + k * MOST_COLS + COLUMN(j));
			UNROLLED for (int i = 0; i < HEIGHT; i++)
				UNROLLED for (int j = 0; j < COLS; j++) acc[i][j] += a[i] * b[j];
		}
		stage = 1 - stage;
		if (more) PUT_STAGE((xs + stage * DEPTH * PITCH), (gs + stage * DEPTH * MOST_COLS));
		BARRIER();
	}
	UNROLLED for (int i = 0; i < HEIGHT; i++)
		UNROLLED for (int j = 0; j < COLS; j += V)
			if (i < mine && COLUMN(j) < wide) STORE_V(GLOBAL, to + i * c_stride + COLUMN(j), acc[i] + j);
}
