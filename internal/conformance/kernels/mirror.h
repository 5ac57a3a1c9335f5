// y holds the blocks of x, each backwards, by way of the last bytes of skip + BLOCK_THREADS·sizeof(T) bytes of dynamic
// shared memory.
KERNEL(BLOCK_THREADS, NAME)(IN(T, x), OUT(T, y), int skip SHARED_ARG)
{
	AT_IN(T, x);
	AT_OUT(T, y);
	LOCAL T *row = (LOCAL T *)(SHARED_BYTES + skip);
	long first = BLOCK * THREADS;
	row[THREAD] = x[first + THREAD];
	BARRIER();
	y[first + THREAD] = row[THREADS - 1 - THREAD];
}
