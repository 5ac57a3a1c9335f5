// Each thread reverses four elements, which start at a multiple of 16 bytes.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), long quads)
{
	AT_IN(T, x);
	AT_OUT(T, y);
	long i = BLOCK * THREADS + THREAD;
	if (i < quads) {
		JOIN(T, 4) q = FETCH((const GLOBAL JOIN(T, 4) *)x + i);
		((GLOBAL JOIN(T, 4) *)y)[i] = MAKE4(T, q.w, q.z, q.y, q.x);
	}
}
