// Package sparse holds sparse matrices on the host: triplets (COO), compressed rows (Pattern and
// CSR) and compressed columns (CSC), generic over float32 and float64, with int64 row pointers
// and int32 column indices.
//
// The ways from one to another:
//
//	COO      --FromCOO-->    CSR       parallel, validated, rows sorted, duplicates by choice
//	CSR      --ToCSC-->      CSC       and CSC.ToCSR, CSR.Transpose, CSR.ToCOO
//	Pattern  --Transpose-->  Pattern + permutation: a second index over the same values
//	CSR, CSC --T-->          the transpose as a view that shares everything
//
// Row i of a CSR is
//
//	columns  m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]
//	values   m.Val[m.RowPtr[i]:m.RowPtr[i+1]]
//
// The structure and the values are separate objects: a [Pattern] says where the non-zeros are, and
// every array of NNZ values in its order is a matrix on that pattern. Whoever keeps values for a
// transposed product asks for [Pattern.Transpose] once and reads value perm[q] for non-zero q.
//
// Rows and Cols are at most 2³¹−1; the number of non-zeros is limited by memory. Values are never
// inspected: explicit zeros, NaN and Inf are kept as they are. Functions that take a Pattern, CSR
// or CSC expect a valid one; a matrix that comes from outside is checked once with its Validate.
// Everything that runs in parallel takes a number of threads, 0 for all CPUs, and gives the same
// bits for every number of threads.
//
// CSR and CSC of either element type implement gonum's mat.Matrix and mat.NonZeroDoer. Package
// sparse/interop converts from and to gonum and james-bowman/sparse matrices.
package sparse
