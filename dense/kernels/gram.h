// part_s = the lower triangle of XᵀX over the rows of split s, cols×cols, in float64: products of float32 are
// exact in float64, so that only the sums round.
//
// A block computes one TILE×TILE tile of one split. It stages CHUNK rows of both column ranges in shared
// memory, as float64 so that each element is converted once. A group of SIDE×SIDE threads covers the
// tile, each thread with 4×4 elements that lie SIDE apart; GROUPS groups share the rows of a chunk.
#define SIDE (TILE / 4)
#define GROUPS (BLOCK_THREADS / (SIDE * SIDE))
#define CHUNK (4 * BLOCK_THREADS / TILE)

KERNEL(BLOCK_THREADS, NAME)(IN(T, x), long x_stride, OUT(double, part), long rows, long cols, long split_rows)
{
	AT_IN(T, x);
	AT_OUT(double, part);
	SHARED double staged[2 * CHUNK * TILE];
	const long side = (cols + TILE - 1) / TILE;
	const long pairs = side * (side + 1) / 2;
	const long split = BLOCK / pairs;
	int tile_q = (int)(BLOCK % pairs), tile_p = 0; // the pairs (p, q ≤ p), row by row
	while (tile_q > tile_p) {
		tile_p++;
		tile_q -= tile_p;
	}
	const int right = tile_p == tile_q ? 0 : CHUNK * TILE; // where the columns q are staged
	const int tx = THREAD % SIDE, ty = THREAD / SIDE % SIDE, group = THREAD / (SIDE * SIDE);
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
				staged[THREAD + e * BLOCK_THREADS] = p[e];
				if (right) staged[right + THREAD + e * BLOCK_THREADS] = q[e];
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
		if (staging) {
			for (int r = group; r < CHUNK; r += GROUPS) {
				double a[4], b[4];
				for (int i = 0; i < 4; i++) {
					a[i] = staged[r * TILE + ty + i * SIDE];
					b[i] = staged[right + r * TILE + tx + i * SIDE];
				}
				for (int i = 0; i < 4; i++)
					for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
			}
		}
		BARRIER();
	}

	// The groups' tiles are added up in halves.
	for (int n = GROUPS / 2; n > 0; n /= 2) {
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				const int to = (group - n) * TILE * TILE + (ty + i * SIDE) * TILE + tx + j * SIDE;
				if (group >= n && group < 2 * n) staged[to] = acc[i][j];
			}
		BARRIER();
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				if (group < n) acc[i][j] += staged[group * TILE * TILE + (ty + i * SIDE) * TILE + tx + j * SIDE];
			}
		BARRIER();
	}
	if (group == 0) {
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				const long kp = tile_p * TILE + ty + i * SIDE, kq = tile_q * TILE + tx + j * SIDE;
				if (kp < cols && kq <= kp) part[(split * cols + kp) * cols + kq] = acc[i][j];
			}
	}
}
