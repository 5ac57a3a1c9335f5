// put sets c = α·sum + β·c.
DEVICE void put(GLOBAL VEC *c, T alpha, VEC sum, T beta)
{
	VEC y = VEC_ZERO;
	if (beta != 0) {
		const VEC old = *c;
		VEC_SCALE_ADD(y, beta, old);
	}
	VEC_SCALE_ADD(y, alpha, sum);
	*c = y;
}
