// rows[q] = the row of non-zero at[q], or of q without at, for q < n. starts are those of starts.h.
KERNEL(BLOCK_THREADS, NAME)(long n, IN(long, at), IN(long, row_ptr), IN(int, starts), OUT(int, rows))
{
	AT_IN(long, at);
	AT_IN(long, row_ptr);
	AT_IN(int, starts);
	AT_OUT(int, rows);
	const long q = BLOCK * BLOCK_THREADS + THREAD;
	if (q >= n)
		return;
	const long z = at_base_ == 0 ? q : FETCH(at + q), g = z / START_EVERY;
	rows[q] = row_of(row_ptr, z, FETCH(starts + g), FETCH(starts + g + 1));
}
