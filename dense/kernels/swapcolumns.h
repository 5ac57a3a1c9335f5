// Columns i and j of m, which has rows rows, change places.
KERNEL(BLOCK_THREADS, NAME)(INOUT(T, m), long m_stride, long i, long j, long rows)
{
	AT_INOUT(T, m);
	const long first = BLOCK * BLOCK_THREADS * UNROLL + THREAD;
	T a[UNROLL], b[UNROLL];
	for (int u = 0; u < UNROLL; u++) {
		const long r = first + u * BLOCK_THREADS;
		a[u] = r < rows ? m[r * m_stride + i] : 0;
		b[u] = r < rows ? m[r * m_stride + j] : 0;
	}
	for (int u = 0; u < UNROLL; u++) {
		const long r = first + u * BLOCK_THREADS;
		if (r < rows) {
			m[r * m_stride + i] = b[u];
			m[r * m_stride + j] = a[u];
		}
	}
}
