// cells[z] = the cell of non-zero z: block·each + cell_of its column, or none where its column is in no panel. Column j is the one of rank
// ranks[j], and the first columns are in panels; blocks have the rows from one of cuts to the next.
KERNEL(BLOCK_THREADS, NAME)
(long nnz, int blocks, int each, int dense, int dense_width, int width, int columns, int none, IN(int, cuts), IN(long, row_ptr), IN(int, col_idx), IN(int, starts), IN(int, ranks), OUT(int, cells))
{
	AT_IN(int, cuts);
	AT_IN(long, row_ptr);
	AT_IN(int, col_idx);
	AT_IN(int, starts);
	AT_IN(int, ranks);
	AT_OUT(int, cells);
	const long z = BLOCK * BLOCK_THREADS + THREAD, g = z / START_EVERY;
	if (z >= nnz)
		return;
	const int rank = FETCH(ranks + FETCH(col_idx + z));
	int cell = none;
	if (rank < columns) {
		const int row = row_of(row_ptr, z, FETCH(starts + g), FETCH(starts + g + 1));
		cell = block_of(cuts, row, blocks) * each + cell_of(rank, dense, dense_width, width);
	}
	cells[z] = cell;
}
