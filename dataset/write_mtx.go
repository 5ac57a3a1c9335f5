package dataset

import (
	"fmt"
	"io"
	"strconv"

	"sddmmkit/sparse"
)

// WriteMatrixMarket writes m in MatrixMarket's coordinate form, real and general, with 1-based
// indices. Reading it back as T gives the same pattern and the same bits.
func WriteMatrixMarket[T sparse.Float](w io.Writer, m *sparse.CSR[T]) error {
	return writeMatrixMarket(w, m.ToCOO())
}

func writeMatrixMarket[T sparse.Float](w io.Writer, c *sparse.COO[T]) error {
	b := fmt.Appendf(make([]byte, 0, flushAt+1<<10),
		"%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", c.Rows, c.Cols, c.NNZ())
	bits := bitSize[T]()
	for p, v := range c.Val {
		b = strconv.AppendInt(b, int64(c.Row[p])+1, 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(c.Col[p])+1, 10)
		b = append(b, ' ')
		b = strconv.AppendFloat(b, float64(v), 'g', -1, bits)
		b = append(b, '\n')
		if len(b) >= flushAt {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}
