// Rows in loads and stores of V elements: 1, or W, as many as 16 bytes hold, for rows that start at multiples of
// 16 bytes and have a multiple of W elements. Elements are in arrays, so that the same code does for any V.

#define LOAD_4(SPACE, to, from) \
	do { \
		const float4 w_ = *(const SPACE float4 *)(from); \
		(to)[0] = w_.x, (to)[1] = w_.y, (to)[2] = w_.z, (to)[3] = w_.w; \
	} while (0)
#define LOAD_2(SPACE, to, from) \
	do { \
		const double2 w_ = *(const SPACE double2 *)(from); \
		(to)[0] = w_.x, (to)[1] = w_.y; \
	} while (0)
#define STORE_4(SPACE, to, from) *(SPACE float4 *)(to) = MAKE4(float, (from)[0], (from)[1], (from)[2], (from)[3])
#define STORE_2(SPACE, to, from) \
	do { \
		double2 w_; \
		w_.x = (from)[0], w_.y = (from)[1]; \
		*(SPACE double2 *)(to) = w_; \
	} while (0)

#if W == 4
#define WIDE float4
#define LOAD_WIDE LOAD_4
#define STORE_WIDE STORE_4
#else
#define WIDE double2
#define LOAD_WIDE LOAD_2
#define STORE_WIDE STORE_2
#endif

#if V == 1
#define LOAD_V(SPACE, to, from) (to)[0] = *(from)
#define STORE_V(SPACE, to, from) *(to) = (from)[0]
#else
#define LOAD_V LOAD_WIDE
#define STORE_V STORE_WIDE
#endif
