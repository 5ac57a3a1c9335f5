// RowCG.Step: one step of each row whose rz is not negative, given q = H·p; part[b] is how many rows of
// block b go on.
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
	const int step = BLOCK_THREADS / lanes;
	double count = 0;
	for (long at = BLOCK * step; at < rows; at += BLOCKS * step) {
		const long i = at + THREAD / lanes;
		const double was = i < rows ? rz[i] : -1;
		const double enough = i < rows ? stop[i] : 0;
		const int goes = was >= 0;
		const INDEX end = goes ? (INDEX)cols : 0;
		const T s = goes ? shift[i] : 0;
		T pv[N], qv[N], rv[N], dv[N], xv[N];

		double pq = 0;
		PASS {
			READ_ROW(pv, p);
			READ_ROW(qv, q);
			if (HELD) { // all loads at once: the sum need not be waited for
				READ_ROW(rv, r);
				READ_ROW(dv, d);
				READ_ROW(xv, x);
			}
			UNROLLED for (int e = 0; e < N; e++) {
				qv[e] += s * pv[e];
				pq += (double)pv[e] * (double)qv[e];
			}
		}
		SUM_THREADS(pq, lanes);
		const int curved = pq > 0 && pq <= LARGEST;
		const T alpha = curved ? (T)(was / pq) : 0;

		double sum = 0;
		if (curved) {
			PASS {
				if (!HELD) {
					READ_ROW(pv, p);
					READ_ROW(qv, q);
					READ_ROW(rv, r);
					READ_ROW(dv, d);
					READ_ROW(xv, x);
					UNROLLED for (int e = 0; e < N; e++) qv[e] += s * pv[e];
				}
				UNROLLED for (int e = 0; e < N; e++) {
					xv[e] += alpha * pv[e];
					rv[e] -= alpha * qv[e];
					sum += (double)rv[e] * (double)(dv[e] * rv[e]);
				}
				WRITE_ROW(x, xv);
				WRITE_ROW(r, rv);
			}
		}
		SUM_THREADS(sum, lanes);
		const int active = curved && sum > enough && sum <= LARGEST;
		const T beta = active ? (T)(sum / was) : 0;

		PASS {
			if (!HELD && active) {
				READ_ROW(pv, p);
				READ_ROW(rv, r);
				READ_ROW(dv, d);
			}
			UNROLLED for (int e = 0; e < N; e++) pv[e] = active ? dv[e] * rv[e] + beta * pv[e] : 0;
			WRITE_ROW(p, pv);
		}
		if (goes && lane == 0) {
			rz[i] = active ? sum : -1;
			count += active;
		}
	}
	SUM_THREADS(count, BLOCK_THREADS);
	if (THREAD == 0) part[BLOCK] = count;
}
