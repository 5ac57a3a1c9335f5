// The row of non-zero z, which lies in rows [lo, hi].
DEVICE int row_of(const GLOBAL long *row_ptr, long z, int lo, int hi)
{
	while (lo < hi) {
		const int mid = hi - (hi - lo) / 2;
		if (FETCH(row_ptr + mid) <= z)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

// The block of a row: the last of blocks that begins at or before it.
DEVICE int block_of(const GLOBAL int *cuts, int row, int blocks)
{
	int lo = 0, hi = blocks - 1;
	while (lo < hi) {
		const int mid = hi - (hi - lo) / 2;
		if (FETCH(cuts + mid) <= row)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}
