// out = {the first elements of six buffers, i, j, f, d}.
KERNEL(BLOCK_THREADS, NAME)(IN(uchar, b1), IN(ushort, b2), IN(T, b4), IN(float, bf), IN(long, b8), IN(double, bd),
	int i, long j, float f, double d, OUT(double, out))
{
	AT_IN(uchar, b1);
	AT_IN(ushort, b2);
	AT_IN(T, b4);
	AT_IN(float, bf);
	AT_IN(long, b8);
	AT_IN(double, bd);
	AT_OUT(double, out);
	if (BLOCK != 0 || THREAD != 0)
		return;
	out[0] = FETCH(b1);
	out[1] = FETCH(b2);
	out[2] = FETCH(b4);
	out[3] = FETCH(bf);
	out[4] = FETCH(b8);
	out[5] = FETCH(bd);
	out[6] = i;
	out[7] = j;
	out[8] = f;
	out[9] = d;
}
