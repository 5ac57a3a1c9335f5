// Dot products of rows of B with a row of A that a warp keeps in registers.
//
//   HELD             what a lane keeps of a row of A, HELDS of them
//   FETCH_HELD(h, i) keeps row i
//   EARLY            whether the next row of A is on its way together with the rows of B: where it takes two registers for each HELD
//   DOT(h, b, u)     what a lane has of the dot product with its non-zero of slab u; b is what it has of the row of B
//   GATHER_SUMS(x)   makes x[0] the sum of slab TURN, of what lanes have of LANES slabs
//
// Numbers of 16 bits are the work of tensor cores, from compute capability 8.0 on: widening and multiplying was more than half of
// the instructions, and instructions were what limited rows of 64 bytes. Their products are exact, as those of widened numbers are,
// and their sums are float32; 32 terms are cut off, not rounded, to no less than 24 bits of the largest.
//
// mma.m16n8k16 multiplies 16 rows of 16 numbers with 8 columns. Thread t of a warp has, of rows t / 4 and t / 4 + 8, the numbers
// at 2·(t % 4) and 8 further, two in a word: {first of t / 4, first of the other, second of t / 4, second of the other}. With
// the 16 bytes x, y, z, w of a row of B that a lane has loaded, x and z are in one row of the product, y and w in another. Columns
// by turns have x, z and y, w of a row of A; the order within a row is the same for both, so it does not matter. So the
// sum of two elements of the product is what four lanes have of a dot product: one instruction for all groups.
//
// Of eight lanes, four have half of a row each, so columns by turns have both halves too, and half of the lanes get what they
// can use: the others do in every other slab, with halves exchanged. An element and the one of the other half are added.

#if V == 8 && LANES >= 4 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

#define EARLY 1
#define HALVES (LANES / 4)
#define HELDS (HALVES * CHUNKS)
#define HELD words_
typedef struct { uint x, y; } words_;

#define FETCH_HELD(h, i) \
	do { \
		const GLOBAL uint *row_ = (const GLOBAL uint *)((const GLOBAL char *)(a + k0) + (ulong)(uint)(i) * a_bytes) + ((uint)THREAD / 4 & 1); \
		UNROLLED for (int e_ = 0; e_ < HALVES; e_++) { \
			UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) { \
				const int load_ = q_ * LANES + ((uint)THREAD / 8 + e_) % HALVES * 4 + (uint)THREAD % 4; \
				h[e_ * CHUNKS + q_].x = load_ < loads ? FETCH(row_ + 4 * load_) : 0; \
				h[e_ * CHUNKS + q_].y = load_ < loads ? FETCH(row_ + 4 * load_ + 2) : 0; \
			} \
		} \
	} while (0)

#ifdef BFLOAT16
#define MMA_TYPE_ "bf16"
#else
#define MMA_TYPE_ "f16"
#endif
#define DOT(h, b, u) dot_(h + (u) % HALVES * CHUNKS, b)
DEVICE float dot_(const words_ *h, const uint4 *b)
{
	float4 c;
	c.x = c.y = c.z = c.w = 0;
	UNROLLED for (int q = 0; q < CHUNKS; q++)
		asm("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPE_ "." MMA_TYPE_ ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		    : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
		    : "r"(b[q].x), "r"(b[q].y), "r"(b[q].z), "r"(b[q].w), "r"(h[q].x), "r"(h[q].y));
	float sum = c.x + c.w;
#if HALVES == 2
	ADD_LANE_(sum, sum, 5);
#endif
	return sum;
}

#if HALVES == 1
#define TURN lane
#else
#define TURN ((lane & 2) * 2 + (lane & 4) / 2 + ((lane ^ lane / 4) & 1))
#endif
#define GATHER_SUMS(x) \
	UNROLLED for (int o_ = 1; o_ < LANES; o_ *= 2) \
		UNROLLED for (int i_ = 0; i_ < LANES; i_ += 2 * o_) \
			(x)[i_] = TURN & o_ ? (x)[i_ + o_] : (x)[i_]

#else

#define EARLY 0
#define HELD VEC
#define HELDS CHUNKS
#define FETCH_HELD(h, i) \
	do { \
		const GLOBAL PACK *from_ = ROW_AT(a_rows, i, a_bytes); \
		PACK pa_[CHUNKS]; \
		if (full) \
			FETCH_ROW(pa_, from_); \
		else \
			FETCH_PART(pa_, from_); \
		UNROLLED for (int q_ = 0; q_ < CHUNKS; q_++) \
			h[q_] = UNPACK(pa_[q_]); \
	} while (0)
#define DOT(h, b, u) dot_(h, b)
DEVICE T dot_(const VEC *h, const PACK *b)
{
	T sum = 0;
	UNROLLED for (int q = 0; q < CHUNKS; q++) {
		const VEC vb = UNPACK(b[q]);
		DOT_ADD(sum, h[q], vb);
	}
	return sum;
}
#define TURN lane
#define GATHER_SUMS(x) SCATTER_SUMS(T, (x), LANES)

#endif
