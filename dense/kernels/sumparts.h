// dst = Σ_s part_s, over splits matrices part_s of float64 that are rows×cols and follow each other.
// With symmetric only their lower triangles are there, and dst gets both.
//
// Neighbouring threads take neighbouring elements, and BLOCK_THREADS / WARP threads share one element.
KERNEL(BLOCK_THREADS, NAME)(OUT(T, dst), long dst_stride, IN(double, part), long rows, long cols, long splits, int symmetric)
{
	AT_OUT(T, dst);
	AT_IN(double, part);
	SHARED double scratch[BLOCK_THREADS];
	const long n = rows * cols;
	const long e = BLOCK * WARP + THREAD % WARP;
	const long i = e / cols, j = e % cols;
	const int wanted = e < n && !(symmetric && j > i);
	double sum = 0;
	if (wanted) {
		for (long s = THREAD / WARP; s < splits; s += BLOCK_THREADS / WARP) sum += part[s * n + e];
	}
	scratch[THREAD] = sum;
	BARRIER();
	if (THREAD < WARP && wanted) {
		for (int w = 1; w < BLOCK_THREADS / WARP; w++) sum += scratch[THREAD + w * WARP];
		dst[i * dst_stride + j] = (T)sum;
		if (symmetric) dst[j * dst_stride + i] = (T)sum;
	}
}
