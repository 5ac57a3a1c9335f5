// dst = F(x), element by element, for rows×cols matrices of different types, FROM and TO. Lanes and rows as in map.h.

KERNEL(BLOCK_THREADS, NAME)(OUT(TO, dst), long dst_stride, IN(FROM, x), long x_stride, long rows, long cols, int lanes)
{
	AT_OUT(TO, dst);
	AT_IN(FROM, x);
	const long step = BLOCK_THREADS / lanes;
	const long first = BLOCK * step * UNROLL + THREAD / lanes;
	for (long k = THREAD % lanes; k < cols; k += lanes) {
		FROM v[UNROLL];
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			v[u] = i < rows ? FETCH(x + i * x_stride + k) : 0;
		}
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			if (i < rows) dst[i * dst_stride + k] = F(v[u]);
		}
	}
}
