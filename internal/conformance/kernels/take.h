// Each thread takes a number from next and counts it in taken, which has as many elements as the grid has threads.
KERNEL(BLOCK_THREADS, NAME)(INOUT(T, next), INOUT(T, taken))
{
	AT_INOUT(T, next);
	AT_INOUT(T, taken);
	taken[TAKE(next)] += 1;
}
