// dst = α·src for columns of matrices with rows rows: the buffers start at the columns' first elements.
// dst and src may be the same column.
KERNEL(BLOCK_THREADS, NAME)(INOUT(T, dst), long dst_stride, T alpha, INOUT(T, src), long src_stride, long rows)
{
	AT_INOUT(T, dst);
	AT_INOUT(T, src);
	const long first = BLOCK * BLOCK_THREADS * UNROLL + THREAD;
	T v[UNROLL];
	for (int u = 0; u < UNROLL; u++) {
		const long i = first + u * BLOCK_THREADS;
		v[u] = i < rows ? src[i * src_stride] : 0;
	}
	for (int u = 0; u < UNROLL; u++) {
		const long i = first + u * BLOCK_THREADS;
		if (i < rows) dst[i * dst_stride] = alpha * v[u];
	}
}
