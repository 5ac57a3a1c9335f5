// Vectors: rows of T, float or double, in loads of V elements: 1, or as many as 16 bytes hold, for rows that start at
// multiples of 16 bytes and have a multiple of V elements.

#if V == 1
#define VEC T
#define VEC_ZERO 0
#define VEC_MAD(acc, x, y) acc = FMA(x, y, acc)
#define VEC_SCALE_ADD(acc, s, x) acc = FMA(s, x, acc)
#define VEC_ADD(acc, x) acc += x
#define VEC_SUM(x) (x)
#elif V == 2
#define VEC JOIN(T, 2)
#define VEC_ZERO vec_zero_()
#define VEC_MAD(acc, a, b) acc.x = FMA(a.x, b.x, acc.x), acc.y = FMA(a.y, b.y, acc.y)
#define VEC_SCALE_ADD(acc, s, b) acc.x = FMA(s, b.x, acc.x), acc.y = FMA(s, b.y, acc.y)
#define VEC_ADD(acc, a) acc.x += a.x, acc.y += a.y
#define VEC_SUM(v) (v.x + v.y)
DEVICE VEC vec_zero_() { VEC v; v.x = v.y = 0; return v; }
#else
#define VEC JOIN(T, 4)
#define VEC_ZERO vec_zero_()
#define VEC_MAD(acc, a, b) \
	acc.x = FMA(a.x, b.x, acc.x), acc.y = FMA(a.y, b.y, acc.y), acc.z = FMA(a.z, b.z, acc.z), acc.w = FMA(a.w, b.w, acc.w)
#define VEC_SCALE_ADD(acc, s, b) \
	acc.x = FMA(s, b.x, acc.x), acc.y = FMA(s, b.y, acc.y), acc.z = FMA(s, b.z, acc.z), acc.w = FMA(s, b.w, acc.w)
#define VEC_ADD(acc, a) acc.x += a.x, acc.y += a.y, acc.z += a.z, acc.w += a.w
#define VEC_SUM(v) ((v.x + v.y) + (v.z + v.w))
DEVICE VEC vec_zero_() { VEC v; v.x = v.y = v.z = v.w = 0; return v; }
#endif

#define CVECS(p) ((const GLOBAL VEC *)(p))
#define VECS(p) ((GLOBAL VEC *)(p))

// FETCH4(T, to, from) sets four elements of an array to those at an address that is a multiple of 16 bytes.
#define FETCH4(T, to, from) JOIN(fetch4_, T)(&(to), from)
DEVICE void fetch4_int(int *to, const GLOBAL int *from)
{
	const int4 w = FETCH((const GLOBAL int4 *)from);
	to[0] = w.x, to[1] = w.y, to[2] = w.z, to[3] = w.w;
}
DEVICE void fetch4_float(float *to, const GLOBAL float *from)
{
	const float4 w = FETCH((const GLOBAL float4 *)from);
	to[0] = w.x, to[1] = w.y, to[2] = w.z, to[3] = w.w;
}
DEVICE void fetch4_double(double *to, const GLOBAL double *from)
{
	const double2 v = FETCH((const GLOBAL double2 *)from), w = FETCH((const GLOBAL double2 *)from + 1);
	to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}
#define ALIGNED16(p) (((ulong)(p) & 15) == 0)
