// For i < n: floats made of the half and the bfloat16 with the bits u[i], and the half and the bfloat16 nearest to f[i].
KERNEL(BLOCK_THREADS, NAME)(IN(ushort, u), IN(T, f), OUT(T, half_float), OUT(T, bfloat_float), OUT(ushort, float_half), OUT(ushort, float_bfloat), long n)
{
	AT_IN(ushort, u);
	AT_IN(T, f);
	AT_OUT(T, half_float);
	AT_OUT(T, bfloat_float);
	AT_OUT(ushort, float_half);
	AT_OUT(ushort, float_bfloat);
	long i = BLOCK * THREADS + THREAD;
	if (i >= n)
		return;
	half_float[i] = HALF_TO_FLOAT(FETCH(&u[i]));
	bfloat_float[i] = BFLOAT_TO_FLOAT(FETCH(&u[i]));
	float_half[i] = FLOAT_TO_HALF(f[i]);
	float_bfloat[i] = FLOAT_TO_BFLOAT(f[i]);
}
