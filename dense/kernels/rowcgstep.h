// RowCG.Step: one step of each row whose rz is not negative, given q = H·p; part[b] is how many rows of
// block b go on. lanes threads, a power of two, share a row; their sums are in float64. There are three passes over a
// row, of which the second and third find most of it in the cache. Each takes UNROLL elements of a lane at a time, all
// loads before any store.
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
		for (long first = lane; first < end; first += UNROLL * lanes) {
			T pv[UNROLL], qv[UNROLL];
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				pv[u] = k < end ? p[i * p_stride + k] : 0;
				qv[u] = k < end ? q[i * q_stride + k] : 0;
			}
			for (int u = 0; u < UNROLL; u++) pq += (double)pv[u] * (double)(qv[u] + s * pv[u]);
		}
		SUM_THREADS(pq, lanes);
		const int curved = pq > 0 && pq <= LARGEST;
		const T alpha = curved ? (T)(was / pq) : 0;

		double sum = 0;
		for (long first = lane; curved && first < end; first += UNROLL * lanes) {
			T pv[UNROLL], qv[UNROLL], xv[UNROLL], rv[UNROLL], dv[UNROLL];
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				xv[u] = k < end ? x[i * x_stride + k] : 0;
				rv[u] = k < end ? r[i * r_stride + k] : 0;
				dv[u] = k < end ? d[i * d_stride + k] : 0;
				pv[u] = k < end ? p[i * p_stride + k] : 0;
				qv[u] = k < end ? q[i * q_stride + k] : 0;
			}
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				if (k >= end) break;
				rv[u] -= alpha * (qv[u] + s * pv[u]);
				sum += (double)rv[u] * (double)(dv[u] * rv[u]);
				x[i * x_stride + k] = xv[u] + alpha * pv[u];
				r[i * r_stride + k] = rv[u];
			}
		}
		SUM_THREADS(sum, lanes);
		const int active = curved && sum > stop[i] && sum <= LARGEST;
		const T beta = active ? (T)(sum / was) : 0;

		for (long first = lane; first < end; first += UNROLL * lanes) {
			T pv[UNROLL];
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				pv[u] = active && k < end ? d[i * d_stride + k] * r[i * r_stride + k] + beta * p[i * p_stride + k] : 0;
			}
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				if (k < end) p[i * p_stride + k] = pv[u];
			}
		}
		if (goes && lane == 0) {
			rz[i] = active ? sum : -1;
			count += active;
		}
	}
	SUM_THREADS(count, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = count;
}
