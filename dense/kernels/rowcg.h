// What RowCG.Start and RowCG.Step share. lanes threads, a power of two, share a row. A thread takes N elements at a
// time: vectors of V, UNROLL of them that lie lanes apart, all loads before any store. Sums are in float64.
#define LARGEST 1.7976931348623157e308 // float64
#define N (UNROLL * V)

// PASS goes through row i, of which columns below end count. With HELD its lanes hold a row at once, so that it is
// one turn for the compiler too, and what was read is there in the next pass.
#if HELD
#define INDEX int // of columns
#define PASS for (INDEX first = lane * V, turn = 0; turn < 1; turn++)
#else
#define INDEX long
#define PASS for (INDEX first = lane * V; first < end; first += lanes * N)
#endif
#define COLUMN(u) (first + (INDEX)(u) * lanes * V)

// READ_ROW fills an array with elements of row i of a matrix, zeros where there are none; WRITE_ROW is the reverse.
#define READ_ROW(to, m) \
	UNROLLED for (int u = 0; u < UNROLL; u++) { \
		UNROLLED for (int v = 0; v < V; v++) to[u * V + v] = 0; \
		if (COLUMN(u) < end) LOAD_V(GLOBAL, to + u * V, m + i * m##_stride + COLUMN(u)); \
	}
#define WRITE_ROW(m, from) \
	UNROLLED for (int u = 0; u < UNROLL; u++) { \
		if (COLUMN(u) < end) STORE_V(GLOBAL, m + i * m##_stride + COLUMN(u), from + u * V); \
	}
