// Every row of dst, rows×cols, becomes the diagonal of g, cols×cols.
KERNEL(BLOCK_THREADS, NAME)(OUT(T, dst), long dst_stride, IN(T, g), long g_stride, long rows, long cols, int lanes)
{
	AT_OUT(T, dst);
	AT_IN(T, g);
	const long step = BLOCK_THREADS / lanes;
	const long first = BLOCK * step * UNROLL + THREAD / lanes;
	for (long k = THREAD % lanes; k < cols; k += lanes) {
		const T v = g[k * (g_stride + 1)];
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			if (i < rows) dst[i * dst_stride + k] = v;
		}
	}
}
