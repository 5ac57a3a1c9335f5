// RowCG.Step: one step of each row whose rz is not negative, given q = H·p; part[b] is how many rows of
// block b go on. lanes threads share a row; their sums are in float64. A row passes through
// three times, of which the second and third find it in the cache.
#define LARGEST 1.7976931348623157e308 // float64

KERNEL(BLOCK_THREADS, NAME)(INOUT(T, x), long x_stride, INOUT(T, r), long r_stride, INOUT(T, p), long p_stride, IN(T, q), long q_stride,
	IN(T, d), long d_stride, IN(T, shift), INOUT(double, rz), IN(double, stop), OUT(double, part), long rows, long cols, int lanes)
{
	AT_INOUT(T, x);
	AT_INOUT(T, r);
	AT_INOUT(T, p);
	AT_IN(T, q);
	AT_IN(T, d);
	AT_IN(T, shift);
	AT_INOUT(double, rz);
	AT_IN(double, stop);
	AT_OUT(double, part);
	THREADS_SCRATCH(double, BLOCK_THREADS);
	const int lane = THREAD % lanes;
	const long step = BLOCK_THREADS / lanes;
	double count = 0;
	for (long at = BLOCK * step; at < rows; at += BLOCKS * step) {
		const long i = at + THREAD / lanes;
		const double was = i < rows ? rz[i] : -1;
		const int goes = was >= 0;
		const long end = goes ? cols : 0;
		const T s = goes ? shift[i] : 0;
		double pq = 0;
		for (long k = lane; k < end; k += lanes) {
			const T v = p[i * p_stride + k];
			pq += (double)v * (double)(q[i * q_stride + k] + s * v);
		}
		SUM_THREADS(pq, lanes);
		const int curved = pq > 0 && pq <= LARGEST;
		const T alpha = curved ? (T)(was / pq) : 0;
		double sum = 0;
		if (curved) {
			for (long k = lane; k < end; k += lanes) {
				const T v = p[i * p_stride + k];
				const T rk = r[i * r_stride + k] - alpha * (q[i * q_stride + k] + s * v);
				x[i * x_stride + k] += alpha * v;
				r[i * r_stride + k] = rk;
				sum += (double)rk * (double)(d[i * d_stride + k] * rk);
			}
		}
		SUM_THREADS(sum, lanes);
		const int active = curved && sum > stop[i] && sum <= LARGEST;
		const T beta = active ? (T)(sum / was) : 0;
		for (long k = lane; k < end; k += lanes)
			p[i * p_stride + k] = active ? d[i * d_stride + k] * r[i * r_stride + k] + beta * p[i * p_stride + k] : 0;
		if (goes && lane == 0) {
			rz[i] = active ? sum : -1;
			count += active;
		}
	}
	SUM_THREADS(count, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = count;
}
