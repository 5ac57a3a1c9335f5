package bench

import (
	"unsafe"

	"sddmmkit/bench/record"
	"sddmmkit/sddmm"
)

// traffic is the bytes of a case by kind.
type traffic struct {
	row      int64      // bytes of a row of B
	gathered popularity // of the rows of B
	streamed int64      // bytes of everything else
}

// storedBytes is the size of an element of A and B, where that of everything else is size.
func storedBytes(c Case, size int64) int64 {
	if c.Stored != "" {
		return 2
	}
	return size
}

// count returns what c does on m, with elements of size bytes.
func count[T sddmm.Float](m *Matrix[T], c Case, size int64) (record.Counts, traffic) {
	nnz, k := m.S.NNZ(), int64(c.K)
	t := traffic{row: k * storedBytes(c, size), gathered: m.cols}
	values := size                         // of each non-zero
	dense, each := int64(m.S.Rows), k*size // rows of C, or of A, and the bytes of one
	switch c.Op {
	case SDDMM:
		dense, each = m.rows.active(), t.row // rows of A without non-zeros are not read
		if c.Epilogue != sddmm.Dot {
			values *= 2
		}
	case SpMMT:
		t.gathered, dense = m.rows, int64(m.S.Cols)
	}
	pointers := int64(m.S.Rows) + 1
	if c.Op == SpMMT {
		pointers = int64(m.S.Cols) + 1
	}
	t.streamed = dense*each + nnz*(4+values) + 8*pointers
	return record.Counts{Flops: 2 * nnz * k, Bytes: nnz*t.row + t.streamed, Compulsory: t.gathered.active()*t.row + t.streamed}, t
}

// elemBytes is the size of an element of A and B.
func (p *problem[T]) elemBytes() int { return int(storedBytes(p.c, int64(unsafe.Sizeof(T(0))))) }
