// Package bench measures SDDMM and SpMM. What it leaves are records: package bench/record reads and compares them.
//
// Run checks a case against the formula before it times it: an error above the derived bound is an
// error and no time. What it returns is a record.Record, which says all that is needed to judge a number or to
// repeat it.
//
// # What is counted
//
// Flops are 2·nnz·K. Bytes are counted by formula, with e bytes per element, wherever they come from:
//
//	sddmm   nnz·K·e  a row of B per non-zero      + M·K·e  each row of A once
//	        + nnz·(4 + 2e)  column, value, result + 8·(M+1)  row pointers; nnz·(4 + e) for Dot
//	spmm    nnz·K·e  a row of B per non-zero      + M·K·e  each row of C once
//	        + nnz·(4 + e)   column, value         + 8·(M+1)  row pointers
//	spmm-t  as spmm with M and N exchanged
//
// Where A and B are stored in 16 bits (Case.Stored), their e is 2.
//
// GB/s is that number over the time. The compulsory bytes count each row of B once, if it is used at
// all: what would move if every cache were large enough. Lines that a cache fetches before it writes
// them are in neither, nor is what an implementation moves besides, such as permutations.
//
// # How time is taken
//
// The operands are in place, the plan is made, warm-ups have run. A sample is a number of calls, chosen
// once so that a sample takes a few milliseconds; on the CPU the host's clock is read around them, on
// other devices events in their stream are. Samples are taken until there are both enough of them and
// enough seconds of them. Calls follow each other at once, so that what fits the caches is in them.
//
// The figure is the median, with a 95 % confidence interval from order statistics (no distribution is
// assumed), the median absolute deviation and the minimum.
//
// On a GPU calls follow each other on the same operands too, unless Options.Cold makes them go round sets of operands.
//
// # The ceiling
//
// A Roofline holds what a machine was measured to do: flops per second, and for each level of memory the
// rate at which rows can be gathered from it and arrays streamed. The ceiling of a case is the
// largest of the time for its flops and, for each level, the time for the bytes that no nearer level
// can hold, when every cache holds the rows that are used most. The share is that time over the
// measured one. Columns in panels fetch a row of B from memory once per panel, not once per
// non-zero: with tiles a share can pass 1.
//
// On a GPU the ceiling is the time in which the device gathers the rows of B that the non-zeros ask for, in their order,
// and does nothing else; or that in which memory moves the compulsory bytes, where that is longer and no cache holds
// them. Both are measured. The first is in every record, and implementations that reuse rows can be faster.
package bench
