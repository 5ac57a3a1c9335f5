// What tiling.Shared has of non-zero from[s], which is in cell cells[s]: its entry e in words, row and column within the cell, and
// the number of e in its block in entry. The cells are sorted; cell c has those s from first[c] on and the entries from
// places[c] on, and the last of its entries fills up to a multiple of ALIGN.

#define NONE 0xffffffffu

KERNEL(BLOCK_THREADS, NAME)
(long nnz, int each, int dense, int dense_width, int width, int none, IN(int, cuts), IN(long, row_ptr), IN(int, col_idx), IN(int, starts), IN(int, ranks),
 IN(int, cells), IN(long, from), IN(long, first), IN(long, places), OUT(uint, words), OUT(uint, entry))
{
	AT_IN(int, cuts);
	AT_IN(long, row_ptr);
	AT_IN(int, col_idx);
	AT_IN(int, starts);
	AT_IN(int, ranks);
	AT_IN(int, cells);
	AT_IN(long, from);
	AT_IN(long, first);
	AT_IN(long, places);
	AT_OUT(uint, words);
	AT_OUT(uint, entry);
	const long s = BLOCK * BLOCK_THREADS + THREAD;
	if (s >= nnz)
		return;
	const int cell = FETCH(cells + s);
	const long z = FETCH(from + s), g = z / START_EVERY;
	if (cell == none) {
		entry[z] = NONE;
		return;
	}
	const int block = cell / each;
	const int row = row_of(row_ptr, z, FETCH(starts + g), FETCH(starts + g + 1)) - FETCH(cuts + block);
	const int column = column_of(FETCH(ranks + FETCH(col_idx + z)), dense, dense_width, width);
	const long e = FETCH(places + cell) + s - FETCH(first + cell);
	const uint word = (uint)row << 16 | (uint)column;
	words[e] = word;
	entry[z] = (uint)(e - FETCH(places + block * each));
	if (s + 1 == FETCH(first + cell + 1))
		for (long fill = e + 1; fill % ALIGN != 0; fill++)
			words[fill] = word;
}
