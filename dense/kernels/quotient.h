// dst = num / (den + s), and 0 where the denominator is 0, for rows×cols matrices and one s per row.
// dst may be num or den.
KERNEL(BLOCK_THREADS, NAME)(INOUT(T, dst), long dst_stride, INOUT(T, num), long num_stride, INOUT(T, den), long den_stride,
	IN(T, s), long rows, long cols, int lanes)
{
	AT_INOUT(T, dst);
	AT_INOUT(T, num);
	AT_INOUT(T, den);
	AT_IN(T, s);
	const long step = BLOCK_THREADS / lanes;
	const long first = BLOCK * step * UNROLL + THREAD / lanes;
	for (long k = THREAD % lanes; k < cols; k += lanes) {
		T n[UNROLL], d[UNROLL];
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			n[u] = i < rows ? num[i * num_stride + k] : 0;
			d[u] = i < rows ? den[i * den_stride + k] + s[i] : 1;
		}
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			if (i < rows) dst[i * dst_stride + k] = d[u] != 0 ? n[u] / d[u] : 0;
		}
	}
}
