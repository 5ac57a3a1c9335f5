// Package model predicts how long SDDMM and SpMM take with and without tiles, from the shape of a
// pattern and the properties of a machine, and chooses the tile.
//
// # The paper
//
// Nisa et al., cuSDDMM, sections III and IV, count elements that move between DRAM and a cache, for A
// of M rows streaming past panels of T_j columns in slices of T_k of K, with c elements a non-zero:
//
//	M·N·K/T_j + N·K + nnz + c·nnz·K/T_k      (4)  Problem.TrafficAStreams, the dual TrafficBStreams
//	2·K·nnz / (4)                            (5)  Problem.Intensity
//	T_j = sqrt(cache/(c·ρ)), T_k = c·ρ·T_j   (6)  BestTile, Problem.LeastTraffic
//
// The matrix with more rows streams (Problem.StreamingSide); from 5 % density on both tiles belong in shared
// memory (SchemeFor). Problem has these equations, one function each.
//
// # The refinement
//
// Choose does not use them, because real patterns are not uniform and real machines have several
// caches (docs/adr/0007-model.md says what was measured). It predicts seconds:
//
//   - A Profile of the pattern, made once: the number of segments at every width (the active rows of all
//     panels, in the place of M·N/T_j), the share of them whose rows follow each other, and the reuse times of the columns in row order.
//   - The reuse times give the footprint fp(w) of a window, the number of different rows of B in w
//     non-zeros. With rows of A or C, indices and lines of values passing too, and what prefetchers bring beside them, a cache of C bytes
//     holds a window T with fp(T)·row + T·rest = C, and a read of a row of B hits when the one before was at most T
//     ago. This is Che's approximation with measured reuse times in the place of independent
//     references: a web graph with neighbours in nearby rows is not taken for a random one. Of many columns a sample is looked at
//     (SHARDS, Waldspurger et al., FAST 2015).
//   - Where address bits pick the sets of a cache (device.Level.SetBytes), columns with the same low bits share sets. If some of
//     these classes are read more often than others, as in R-MAT graphs, reuse times are counted within each, which has its part of the
//     cache, unless rows of B are so long that there are but a few classes.
//   - In a panel, which has 1/p of the columns, the same happens p times as often: times and footprints
//     shrink by p, and more hits. Where some regions of columns are more popular than others, times are counted
//     by region, and each panel has the hits of its own. Segments pay: each touches its row of A, or reads and
//     writes its row of C, and whole lines of the arrays of values. Such a row comes from a shared cache if one of the
//     panels before that it still holds has read it too.
//   - What passes through once in a call, S bytes in all, is in the first cache that holds all of it for the next; of more than a shared
//     cache of C bytes holds, it still has a share h = exp(−(1 − h)·S/C), as if it replaced lines at random.
//   - Each level of memory delivers rows at the rate that was measured for their length
//     (device.Measured), a shared one more slowly where rows of B fill it, long ones most; rows from a thread's own caches between others take longer than
//     both by themselves (device.Mixing), those that the inner loops leave to the hardware's prefetchers a little less (Near), and so do
//     long ones of SDDMM from shared caches and memory without panels and slices, and those of SpMM a little more. What is
//     read or written in order of address streams, half hidden behind the rest: more of it without panels, more in SDDMM and less in SpMM
//     where rows are long, and nothing in slices of K, where sums are read again and rows of C lie apart. Rows of A that do not follow
//     the one before, as the profile counts them for each width, and in slices of K, and the lines of values of segments in panels, are gathered;
//     but slices of rows that follow each other stream from memory, not hidden, short ones of A apart. Where segments read rows of A or C often, slices
//     of these are copied to follow each other, and are streams as without slices (Packs). Slices of B are copied from memory more slowly than
//     rows are gathered, and lines of copies change hands between threads; but panels of slices of B that fit L2 and are read often each thread
//     copies for itself (OwnCopies).
//
// A Choice has the prediction for the chosen tile and for all others, and a sentence that says why.
//
// # GPUs
//
// On a GPU the choice is between two schemes: gathering rows of B from L2, and keeping those of popular columns
// in shared memory; in 16 bits some of these may be dense, so that tensor cores make all of their products. GPU.Choose predicts
// them in cycles of a multiprocessor (docs/adr/0011-shared-scheme.md, 0019-dense-panels.md).
package model
