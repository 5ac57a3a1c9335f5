// p_z = α·f(s_z, dots_e) + β·p_z for the non-zeros z that have a dot product e = entry_z, which tile.h has left in an
// order of its own. A block of threads has a piece of PIECE non-zeros at most: the first, the one after the last, and the
// dot product that entry counts from.

#define EACH (PIECE / BLOCK_THREADS)
#define NONE 0xffffffffu

KERNEL(BLOCK_THREADS, NAME)(int f, T alpha, T beta, IN(long, pieces), IN(uint, entry), IN(T, dots), INOUT(T, s), INOUT(T, p))
{
	AT_IN(long, pieces);
	AT_IN(uint, entry);
	AT_IN(T, dots);
	AT_INOUT(T, s);
	AT_INOUT(T, p);
	const long lo = FETCH(pieces + 3 * BLOCK), hi = FETCH(pieces + 3 * BLOCK + 1), first = FETCH(pieces + 3 * BLOCK + 2);
	uint e[EACH];
	T x[EACH];
	UNROLLED for (int u = 0; u < EACH; u++) {
		const long z = lo + u * BLOCK_THREADS + THREAD;
		e[u] = z < hi ? FETCH(entry + z) : NONE;
	}
	UNROLLED for (int u = 0; u < EACH; u++)
		x[u] = e[u] == NONE ? 0 : FETCH(dots + first + e[u]);
	T value[EACH];
	if (f != 0) {
		UNROLLED for (int u = 0; u < EACH; u++)
			value[u] = e[u] == NONE ? 0 : s[lo + u * BLOCK_THREADS + THREAD];
	}
	UNROLLED for (int u = 0; u < EACH; u++) {
		const long z = lo + u * BLOCK_THREADS + THREAD;
		if (e[u] != NONE) {
			const T y = alpha * epilogue(f, f == 0 ? 0 : value[u], x[u]);
			p[z] = beta == 0 ? y : FMA(beta, p[z], y);
		}
	}
}
