// The rows that runs of run consecutive non-zeros do not finish, each by itself (pattern.Pieces): those whose non-zeros lie in
// several runs, and those without any. Without places, cut[i] says whether row i is one; with them, row i has the three
// numbers from pieces[3·places[i]] on.
KERNEL(BLOCK_THREADS, NAME)(int rows, long run, IN(long, row_ptr), IN(long, places), OUT(int, cut), OUT(long, pieces))
{
	AT_IN(long, row_ptr);
	AT_IN(long, places);
	AT_OUT(int, cut);
	AT_OUT(long, pieces);
	const long i = BLOCK * BLOCK_THREADS + THREAD;
	if (i >= rows)
		return;
	const long from = FETCH(row_ptr + i), to = FETCH(row_ptr + i + 1);
	const long first = from == to ? 0 : from / run, last = from == to ? -1 : (to - 1) / run;
	if (places_base_ == 0)
		cut[i] = first != last;
	else if (first != last) {
		GLOBAL long *piece = pieces + 3 * FETCH(places + i);
		piece[0] = i;
		piece[1] = first;
		piece[2] = last + 1;
	}
}
