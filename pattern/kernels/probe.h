// Reads rows of 16 bytes a lane at random places among the first rows of data, each warp ROWS of them. The data are zeros, and so
// found is never written, which the compiler does not know.

KERNEL(BLOCK_THREADS, NAME)(int rows, int seed, IN(uint4, data), OUT(int, found))
{
	AT_IN(uint4, data);
	AT_OUT(int, found);
	const int lane = THREAD % WARP;
	const uint first = (uint)(BLOCK * (BLOCK_THREADS / WARP) + THREAD / WARP) * ROWS + (uint)seed * 0x9e3779b9u;
	uint sum = 0;
	for (int t = 0; t < ROWS; t += EACH) {
		uint4 v[EACH];
		UNROLLED for (int u = 0; u < EACH; u++) {
			uint x = first + t + u; // mixed, as in splitmix
			x = (x ^ x >> 16) * 0x7feb352du;
			x = (x ^ x >> 15) * 0x846ca68bu;
			x ^= x >> 16;
			v[u] = FETCH(data + (long)((ulong)x * (ulong)rows >> 32) * WARP + lane);
		}
		UNROLLED for (int u = 0; u < EACH; u++)
			sum += v[u].x + v[u].y + v[u].z + v[u].w;
	}
	if (sum != 0)
		found[0] = 1;
}
