// RowCG.Start: r −= s·x, d = 1/(d + s), p = d∘r, and rz, stop of each row; part[b] is how many rows of
// block b are not done. lanes threads, a power of two, share a row; their sums are in float64.
#define LARGEST 1.7976931348623157e308 // float64

KERNEL(BLOCK_THREADS, NAME)(IN(T, x), long x_stride, INOUT(T, r), long r_stride, INOUT(T, p), long p_stride, INOUT(T, d), long d_stride,
	IN(T, shift), OUT(double, rz), OUT(double, stop), OUT(double, part), double tol, long rows, long cols, int lanes)
{
	AT_IN(T, x);
	AT_INOUT(T, r);
	AT_INOUT(T, p);
	AT_INOUT(T, d);
	AT_IN(T, shift);
	AT_OUT(double, rz);
	AT_OUT(double, stop);
	AT_OUT(double, part);
	THREADS_SCRATCH(double, BLOCK_THREADS);
	const int lane = THREAD % lanes;
	const long step = BLOCK_THREADS / lanes;
	double count = 0;
	for (long at = BLOCK * step; at < rows; at += BLOCKS * step) {
		const long i = at + THREAD / lanes;
		const long end = i < rows ? cols : 0;
		const T s = i < rows ? shift[i] : 0;
		double sum = 0, scale = 0;
		for (long first = lane; first < end; first += UNROLL * lanes) {
			T xv[UNROLL], rv[UNROLL], dv[UNROLL];
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				xv[u] = k < end ? x[i * x_stride + k] : 0;
				rv[u] = k < end ? r[i * r_stride + k] : 0;
				dv[u] = k < end ? d[i * d_stride + k] : 0;
			}
			for (int u = 0; u < UNROLL; u++) {
				const long k = first + u * lanes;
				if (k >= end) break;
				const T v = dv[u] + s;
				const T inverse = v > 0 ? 1 / v : 0;
				const T rk = rv[u] - s * xv[u], pk = inverse * rk;
				if (v > 0) scale += (double)xv[u] * (double)xv[u] * (double)v;
				sum += (double)rk * (double)pk;
				d[i * d_stride + k] = inverse;
				r[i * r_stride + k] = rk;
				p[i * p_stride + k] = pk;
			}
		}
		SUM_THREADS(sum, lanes);
		SUM_THREADS(scale, lanes);
		const double enough = tol * tol * (sum > scale ? sum : scale);
		const int active = sum > enough && sum <= LARGEST;
		if (!active) {
			for (long k = lane; k < end; k += lanes) p[i * p_stride + k] = 0;
		}
		if (i < rows && lane == 0) {
			rz[i] = active ? sum : -1;
			stop[i] = enough;
			count += active;
		}
	}
	SUM_THREADS(count, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = count;
}
