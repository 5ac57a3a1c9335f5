// RowCG.Start: r −= s·x, d = 1/(d + s), p = d∘r, and rz, stop of each row; part[b] is how many rows of
// block b are not done.
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
	const int step = BLOCK_THREADS / lanes;
	double count = 0;
	for (long at = BLOCK * step; at < rows; at += BLOCKS * step) {
		const long i = at + THREAD / lanes;
		const INDEX end = i < rows ? (INDEX)cols : 0;
		const T s = i < rows ? shift[i] : 0;
		double sum = 0, scale = 0;
		PASS {
			T xv[N], rv[N], dv[N], pv[N];
			READ_ROW(xv, x);
			READ_ROW(rv, r);
			READ_ROW(dv, d);
			UNROLLED for (int e = 0; e < N; e++) {
				const T v = dv[e] + s;
				if (v > 0) scale += (double)xv[e] * (double)xv[e] * (double)v;
				dv[e] = v > 0 ? 1 / v : 0;
				rv[e] -= s * xv[e];
				pv[e] = dv[e] * rv[e];
				sum += (double)rv[e] * (double)pv[e];
			}
			WRITE_ROW(d, dv);
			WRITE_ROW(r, rv);
			WRITE_ROW(p, pv);
		}
		SUM_THREADS(sum, lanes);
		SUM_THREADS(scale, lanes);
		const double enough = tol * tol * (sum > scale ? sum : scale);
		const int active = sum > enough && sum <= LARGEST;
		if (!active) {
			PASS {
				const T zeros[N] = {0};
				WRITE_ROW(p, zeros);
			}
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
