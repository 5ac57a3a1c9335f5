// starts[g] = the row of non-zero START_EVERY·g of nnz, or of the last one for the last g.
KERNEL(BLOCK_THREADS, NAME)(long nnz, int rows, IN(long, row_ptr), OUT(int, starts))
{
	AT_IN(long, row_ptr);
	AT_OUT(int, starts);
	const long g = BLOCK * BLOCK_THREADS + THREAD;
	const long z = g * START_EVERY < nnz ? g * START_EVERY : nnz - 1;
	if ((g - 1) * START_EVERY < nnz)
		starts[g] = row_of(row_ptr, z, 0, rows - 1);
}
