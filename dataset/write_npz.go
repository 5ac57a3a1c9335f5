package dataset

import (
	"io"

	"sddmmkit/internal/npz"
	"sddmmkit/sparse"
)

// WriteNPZ writes m as scipy.sparse.save_npz does, compressed, in CSR: scipy.sparse.load_npz and
// Read open it.
func WriteNPZ[T sparse.Float](w io.Writer, m *sparse.CSR[T]) error {
	z := newNPZArchive(w)
	z.add("indices", len(m.ColIdx), m.ColIdx)
	if m.NNZ() <= 1<<31-1 {
		// scipy wants one type for both kinds of index and else copies the shorter ones.
		ptr := make([]int32, len(m.RowPtr))
		for i, p := range m.RowPtr {
			ptr[i] = int32(p)
		}
		z.add("indptr", len(ptr), ptr)
	} else {
		z.add("indptr", len(m.RowPtr), m.RowPtr)
	}
	z.matrix("csr", m.Rows, m.Cols)
	z.add("data", len(m.Val), m.Val)
	return z.close()
}

// writeSetNPZ writes a set in scipy's COO form, which keeps the order of the entries, and with
// it names and times.
func writeSetNPZ[T sparse.Float](w io.Writer, s *Set[T]) error {
	z := newNPZArchive(w)
	z.add("row", len(s.COO.Row), s.COO.Row)
	z.add("col", len(s.COO.Col), s.COO.Col)
	z.matrix("coo", s.COO.Rows, s.COO.Cols)
	z.add("data", len(s.COO.Val), s.COO.Val)
	if s.Rows != nil {
		z.add(npzRowNames, s.Rows.Len(), s.Rows.Names())
	}
	if s.Cols != nil {
		z.add(npzColNames, s.Cols.Len(), s.Cols.Names())
	}
	if s.Time != nil {
		z.add(npzTime, len(s.Time), s.Time)
	}
	return z.close()
}

// npzArchive adds arrays until the first error.
type npzArchive struct {
	w   *npz.Writer
	err error
}

func newNPZArchive(w io.Writer) *npzArchive {
	z := &npzArchive{w: npz.NewWriter(w)}
	z.w.Compress = true
	return z
}

func (z *npzArchive) add(name string, n int, data any) {
	if z.err == nil {
		z.err = z.w.Write(name, []int{n}, data)
	}
}

// matrix adds what scipy needs to know which matrix it is.
func (z *npzArchive) matrix(format string, rows, cols int) {
	if z.err == nil {
		z.err = z.w.Write("format", nil, [][]byte{[]byte(format)})
	}
	z.add("shape", 2, []int64{int64(rows), int64(cols)})
}

func (z *npzArchive) close() error {
	if z.err != nil {
		return z.err
	}
	return z.w.Close()
}
