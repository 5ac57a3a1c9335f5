// Package tiling cuts a sparsity pattern into the pieces that workers and caches like. All of it
// are pure functions of a pattern: no device, no values, no clock. What they return depends on
// neither the depth K of an operation nor the number of threads that built it, so that one plan
// serves all K and all results keep their bits.
//
// Names and shapes are those of Nisa et al., cuSDDMM (sections III and IV), for an M×N pattern, A
// with M rows and B with N:
//
//	units        runs of rows of about equal cost, long rows in pieces             Cut
//	column panel T_j columns; the tile of B that belongs to it stays in a cache,
//	             rows of A that are active in it stream past (vertical streaming)  Columns
//	row panel    T_i rows; the dual: a tile of A stays, rows of B stream past      Rows
//	active rows  rows with a non-zero in a panel, IV-A c)                          ActiveRows, SegmentCounts,
//	                                                                               FollowingShares
//	SM-L2        panels cut at every T_i active rows, as triplets with indices
//	             local to the tile (algorithms 4 and 5)                            NewSML2
//	SM-SM        a grid of T_i×T_j tiles, as triplets with local indices
//	             (figure 6)                                                        NewSMSM
//	shared       panels of popular columns crossed with blocks of rows, for GPUs that
//	             keep rows of B in shared memory, cut into items and shares of
//	             these; the rest is gathered. Of the most popular ones all products
//	             may be made, as SM-SM does: dense panels                          NewShared
//	order        rows or columns by falling count, so that popular ones meet       RowsByCount, ColumnsByCount
//
// Where the columns of every row are sorted, the part of a row that lies in a column panel is a
// run of its non-zeros. Such a run is a Segment, and panels are lists of segments: no value moves, only
// column indices are copied to the order of the segments. The cost is a few nanoseconds per non-zero,
// more the shorter the segments are.
package tiling
