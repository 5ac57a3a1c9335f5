// Vectors: rows in loads of V elements: 1, or as many as 16 bytes hold, for rows that start at multiples of 16 bytes and
// have a multiple of V elements. E is the type of an element in memory: T, float or double, or with BFLOAT16 or FLOAT16 a
// number of 16 bits; then T is float.
//
//   PACK   V elements as they are loaded, of which UNPACK makes a
//   VEC    V numbers of type T
//
// DOT_ADD(sum, a, b) adds to a T what two VECs contribute to a dot product, one product after the other.

#if !defined(BFLOAT16) && !defined(FLOAT16)

#define E T
#define PACK VEC
#define PACK_ZERO VEC_ZERO
#define UNPACK(p) (p)

#if V == 1
#define VEC T
#define VEC_ZERO 0
#define VEC_ADD(acc, x) acc += x
#define VEC_SCALE_ADD(acc, s, x) acc = FMA(s, x, acc)
#define VEC_SUM(x) (x)
#define DOT_ADD(sum, x, y) sum = FMA(x, y, sum)
#elif V == 2
#define VEC JOIN(T, 2)
#define VEC_ZERO vec_zero_()
#define VEC_ADD(acc, a) acc.x += a.x, acc.y += a.y
#define VEC_SCALE_ADD(acc, s, b) acc.x = FMA(s, b.x, acc.x), acc.y = FMA(s, b.y, acc.y)
#define VEC_SUM(v) (v.x + v.y)
#define DOT_ADD(sum, a, b) sum = FMA(a.y, b.y, FMA(a.x, b.x, sum))
DEVICE VEC vec_zero_() { VEC v; v.x = v.y = 0; return v; }
#else
#define VEC JOIN(T, 4)
#define VEC_ZERO vec4_zero_()
#define VEC_ADD(acc, a) VEC4_ADD_(acc, a)
#define VEC_SCALE_ADD(acc, s, b) VEC4_SCALE_ADD_(acc, s, b)
#define VEC_SUM(v) VEC4_SUM_(v)
#define DOT_ADD(sum, a, b) VEC4_DOT_ADD_(sum, a, b)
#endif

#else

#define E ushort
#ifdef BFLOAT16
#define WIDEN(u) BFLOAT_TO_FLOAT(u)
#define WIDEN2(w) BFLOATS_TO_FLOATS(w)
#else
#define WIDEN(u) HALF_TO_FLOAT(u)
#define WIDEN2(w) HALVES_TO_FLOATS(w)
#endif

#if V == 1
#define PACK ushort
#define PACK_ZERO 0
#define UNPACK(p) WIDEN(p)
#define VEC float
#define VEC_ZERO 0
#define VEC_SCALE_ADD(acc, s, x) acc = FMA(s, x, acc)
#define VEC_SUM(x) (x)
#define DOT_ADD(sum, x, y) sum = FMA(x, y, sum)
#else
#define PACK uint4
#define PACK_ZERO pack_zero_()
#define UNPACK(p) unpack_(p)
#define VEC vec8_
#define VEC_ZERO vec8_zero_()
#define VEC_SCALE_ADD(acc, s, b) VEC4_SCALE_ADD_(acc.lo, s, b.lo), VEC4_SCALE_ADD_(acc.hi, s, b.hi)
#define VEC_SUM(v) (VEC4_SUM_(v.lo) + VEC4_SUM_(v.hi))
#define DOT_ADD(sum, a, b) VEC4_DOT_ADD_(sum, a.lo, b.lo), VEC4_DOT_ADD_(sum, a.hi, b.hi)
#endif

#endif

// Of four numbers.
#define VEC4_SCALE_ADD_(acc, s, b) \
	acc.x = FMA(s, b.x, acc.x), acc.y = FMA(s, b.y, acc.y), acc.z = FMA(s, b.z, acc.z), acc.w = FMA(s, b.w, acc.w)
#define VEC4_ADD_(acc, a) acc.x += a.x, acc.y += a.y, acc.z += a.z, acc.w += a.w
#define VEC4_DOT_ADD_(sum, a, b) sum = FMA(a.w, b.w, FMA(a.z, b.z, FMA(a.y, b.y, FMA(a.x, b.x, sum))))
#define VEC4_SUM_(v) ((v.x + v.y) + (v.z + v.w))
#if V >= 4
DEVICE JOIN(T, 4) vec4_zero_() { JOIN(T, 4) v; v.x = v.y = v.z = v.w = 0; return v; }
#endif

#if V == 8
typedef struct { float4 lo, hi; } vec8_;
DEVICE vec8_ vec8_zero_() { vec8_ v; v.lo = v.hi = vec4_zero_(); return v; }
DEVICE uint4 pack_zero_() { uint4 p; p.x = p.y = p.z = p.w = 0; return p; }
DEVICE vec8_ unpack_(uint4 p)
{
	const float2 x = WIDEN2(p.x), y = WIDEN2(p.y), z = WIDEN2(p.z), w = WIDEN2(p.w);
	vec8_ v;
	v.lo.x = x.x, v.lo.y = x.y, v.lo.z = y.x, v.lo.w = y.y;
	v.hi.x = z.x, v.hi.y = z.y, v.hi.z = w.x, v.hi.w = w.y;
	return v;
}
#endif

#define CPACKS(p) ((const GLOBAL PACK *)(p))

// ROW_AT(rows, i, bytes) is where row i is, of rows that begin at rows and are bytes apart: one instruction where bytes has 32 bits.
#define ROW_AT(rows, i, bytes) CPACKS((const GLOBAL char *)(rows) + (ulong)(uint)(i) * (bytes))
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
