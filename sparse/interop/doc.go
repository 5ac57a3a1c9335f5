// Package interop converts between this module's host matrices and those of gonum (mat.Matrix,
// mat.Dense) and of github.com/james-bowman/sparse (CSR, CSC, COO, DOK).
//
//	from                        to                          values          indices
//	FromMatrix  any mat.Matrix  sparse.CSR                  copied          copied
//	ToDense     sparse.CSR      mat.Dense                   copied          —
//	FromCSR, FromCSC            sparse.CSR, sparse.CSC      shared          copied
//	ToCSR, ToCSC, ToCOO         CSR, CSC, COO               shared          copied
//	FromCOO, FromDOK            sparse.COO, sparse.CSR      copied          copied
//	ToDOK       sparse.CSR      DOK                         copied          copied
//
// "Shared" holds for float64: both matrices then have the same values, and a write to one is seen
// in the other. With float32 the values are converted, hence copied. Indices are always copied:
// int there, int64 and int32 here. A matrix that shares values must not be changed in structure by
// james-bowman's Set or Reset while the other is in use; inserting an element allocates anew and
// ends the sharing.
//
// A conversion validates its operand first, since the constructors of james-bowman/sparse do not:
// sizes, lengths, row pointers, index ranges, and positions that are stored twice. What is wrong
// comes back as an error. Values pass as they are, stored zeros, NaN and Inf included, with one
// exception: a finite value beyond the range of float32 is an error and not an infinity.
//
// Converting from its COO goes triplet by triplet and never through its COO to CSR conversion,
// which merges leading duplicates wrongly.
package interop
