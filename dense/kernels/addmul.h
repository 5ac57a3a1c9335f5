// c += α·x·g for x rows×depth and g depth×cols.
//
// A block computes ROWS×TILE elements of c, its threads 8×8 each, and stages DEPTH columns of α·x and rows
// of g in shared memory at a time. Blocks of the same rows stand next to each other.
#define SIDE (TILE / 8)
#define ROWS (BLOCK_THREADS / SIDE * 8)
#define DEPTH (TILE / 4)
#define PITCH (ROWS + WARP / DEPTH) // of the staged x, which is transposed: no two lanes write to one bank

KERNEL(BLOCK_THREADS, NAME)(INOUT(T, c), long c_stride, T alpha, IN(T, x), long x_stride, IN(T, g), long g_stride,
	long rows, long depth, long cols)
{
	AT_INOUT(T, c);
	AT_IN(T, x);
	AT_IN(T, g);
	SHARED T xs[DEPTH * PITCH];
	SHARED T gs[DEPTH * TILE];
	const long tiles = (cols + TILE - 1) / TILE;
	const long row = BLOCK / tiles * ROWS;
	const long col = BLOCK % tiles * TILE;
	const int tx = THREAD % SIDE, ty = THREAD / SIDE;

	T acc[8][8];
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++) acc[i][j] = 0;
	for (long at = 0; at < depth; at += DEPTH) {
		for (int e = THREAD; e < DEPTH * ROWS; e += BLOCK_THREADS) {
			const long i = row + e / DEPTH;
			const long k = at + e % DEPTH;
			xs[e % DEPTH * PITCH + e / DEPTH] = i < rows && k < depth ? alpha * x[i * x_stride + k] : 0;
		}
		for (int e = THREAD; e < DEPTH * TILE; e += BLOCK_THREADS) {
			const long k = at + e / TILE, j = col + e % TILE;
			gs[e] = k < depth && j < cols ? g[k * g_stride + j] : 0;
		}
		BARRIER();
		for (int k = 0; k < DEPTH; k++) {
			T a[8], b[8];
			for (int i = 0; i < 8; i++) {
				a[i] = xs[k * PITCH + ty + i * (ROWS / 8)];
				b[i] = gs[k * TILE + tx + i * SIDE];
			}
			for (int i = 0; i < 8; i++)
				for (int j = 0; j < 8; j++) acc[i][j] += a[i] * b[j];
		}
		BARRIER();
	}
	for (int i = 0; i < 8; i++) {
		const long r = row + ty + i * (ROWS / 8);
		for (int j = 0; j < 8; j++) {
			const long k = col + tx + j * SIDE;
			if (r < rows && k < cols) c[r * c_stride + k] += acc[i][j];
		}
	}
}
