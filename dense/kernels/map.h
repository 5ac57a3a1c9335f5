// dst = F(x), element by element, for rows×cols matrices. dst may be x.
//
// As in all row-wise kernels, lanes threads, a power of two, share a row, and each of them takes every
// lanes-th column, of UNROLL rows at a time so that as many loads are under way.

#ifdef EXP_DIGAMMA

// exp_digamma returns exp(ψ(x)) for x > 0. With y = x + n − 1/2,
//
//   ψ(x) = log y + 1/24 y⁻² − 7/960 y⁻⁴ + … − Σ_{i<n} 1/(x+i)        DLMF 5.11.2 (about 1/2) and 5.5.2
//
// so that one exponential is all it takes, and the terms of the sum join in pairs:
// 1/(x+i) + 1/(x+n−1−i) = (2x+n−1) / (x(x+n−1) + i(n−1−i)). Where the series ends, the next term is below the
// rounding error for all y ≥ n − 1/2.
DEVICE float exp_digamma_4(float x)
{
	if (x > 1e8f) return x - 0.5f; // the rest is below the rounding error
	const float z = x * (x + 3), y = x + 3.5f, w = 1 / (y * y);
	const float near = w * (1.0f / 24 - w * (7.0f / 960 - w * (31.0f / 8064 - w * (127.0f / 30720))));
	return y * exp(near - (2 * x + 3) * (1 / z + 1 / (z + 2)));
}

DEVICE double exp_digamma_10(double x)
{
	if (x > 1e16) return x - 0.5;
	const double z = x * (x + 9), y = x + 9.5, w = 1 / (y * y);
	const double far = w * (511.0 / 67584 - w * (1414477.0 / 67092480 - w * (8191.0 / 98304 - w * (118518239.0 / 267386880))));
	const double near = w * (1.0 / 24 - w * (7.0 / 960 - w * (31.0 / 8064 - w * (127.0 / 30720 - far))));
	return y * exp(near - (2 * x + 9) * (1 / z + 1 / (z + 8) + 1 / (z + 14) + 1 / (z + 18) + 1 / (z + 20)));
}

#endif

KERNEL(BLOCK_THREADS, NAME)(INOUT(T, dst), long dst_stride, INOUT(T, x), long x_stride, long rows, long cols, int lanes)
{
	AT_INOUT(T, dst);
	AT_INOUT(T, x);
	const long step = BLOCK_THREADS / lanes;
	const long first = BLOCK * step * UNROLL + THREAD / lanes;
	for (long k = THREAD % lanes; k < cols; k += lanes) {
		T v[UNROLL];
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			v[u] = i < rows ? x[i * x_stride + k] : 1;
		}
		for (int u = 0; u < UNROLL; u++) {
			const long i = first + u * step;
			if (i < rows) dst[i * dst_stride + k] = F(v[u]);
		}
	}
}
