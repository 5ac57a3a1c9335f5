// counts[key] += 1 for each of the n keys.
KERNEL(BLOCK_THREADS, NAME)(long n, IN(int, keys), INOUT(int, counts))
{
	AT_IN(int, keys);
	AT_INOUT(int, counts);
	for (long z = BLOCK * BLOCK_THREADS + THREAD; z < n; z += BLOCKS * BLOCK_THREADS)
		TAKE(counts + FETCH(keys + z));
}
