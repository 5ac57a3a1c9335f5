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

// The cell of a block of rows that has the column of a rank, and where in it the column is: the first dense columns are in cells of
// dense_width, the others in cells of width.
DEVICE int cell_of(int rank, int dense, int dense_width, int width)
{
	return rank < dense ? rank / dense_width : (dense + dense_width - 1) / dense_width + (rank - dense) / width;
}
DEVICE int column_of(int rank, int dense, int dense_width, int width)
{
	return rank < dense ? rank % dense_width : (rank - dense) % width;
}
