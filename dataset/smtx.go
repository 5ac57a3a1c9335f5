package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"sddmmkit/sparse"
)

// readSMTX reads the format of the Deep Learning Matrix Collection: a line "rows, cols, nnz",
// then rows+1 row offsets, then nnz column indices, all from 0; every value is 1. Whole arrays
// stand on one line, so the file is read as a stream of numbers, not of lines.
func readSMTX[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	s, err := in.headerLine()
	if err != nil && err != io.EOF {
		return nil, err
	}
	f := bytes.Split(s, []byte{','})
	var size [3]int64
	ok := len(f) == 3
	for i := 0; ok && i < 3; i++ {
		b := bytes.TrimSpace(f[i])
		var end int
		size[i], end = digits(b, 0)
		ok = end > 0 && end == len(b)
	}
	if !ok {
		return nil, &ParseError{File: in.name, Line: 1, Got: quote(s), Want: `"rows, columns, entries", three whole numbers`}
	}
	rows, cols, nnz := size[0], size[1], size[2]
	if err := opt.checkHeaderShape(in.name, 1, rows, cols); err != nil {
		return nil, err
	}
	coo := &sparse.COO[T]{Rows: int(rows), Cols: int(cols)}
	n := &numbers{in: in, ctx: ctx}

	// The offsets are kept as they come, for a header may promise more rows than there are.
	var offsets []int64
	last := int64(0)
	for i := int64(0); i <= rows; i++ {
		v, err := n.next()
		if err == io.EOF {
			return nil, n.bad(fmt.Sprintf("the end of the file after %d row offsets", i), fmt.Sprintf("the %d of %d rows", rows+1, rows))
		}
		if err != nil {
			return nil, err
		}
		if i == 0 && v != 0 {
			return nil, n.bad(fmt.Sprintf("row offset %d", v), "0 to begin with")
		}
		if v < last || v > nnz {
			return nil, n.bad(fmt.Sprintf("row offset %d", v), fmt.Sprintf("one from %d to %d: offsets do not decrease", last, nnz))
		}
		offsets = append(offsets, v)
		last = v
	}
	if last != nnz {
		return nil, n.bad(fmt.Sprintf("last row offset %d", last), fmt.Sprintf("the %d entries that line 1 promises", nnz))
	}
	row := 0
	for p := int64(0); p < nnz; p++ {
		v, err := n.next()
		if err == io.EOF {
			return nil, n.bad(fmt.Sprintf("the end of the file after %d columns", p), fmt.Sprintf("the %d that line 1 promises", nnz))
		}
		if err != nil {
			return nil, err
		}
		if v >= cols {
			return nil, n.bad(fmt.Sprintf("column %d", v), wantIndex(0, cols))
		}
		for offsets[row+1] <= p {
			row++
		}
		coo.Row = append(coo.Row, int32(row))
		coo.Col = append(coo.Col, int32(v))
	}
	if v, err := n.next(); err == nil {
		return nil, n.bad(fmt.Sprintf("one number more (%d)", v), fmt.Sprintf("the end of the file after %d columns", nnz))
	} else if err != io.EOF {
		return nil, err
	}
	coo.Row, coo.Col = exact(coo.Row), exact(coo.Col)
	coo.Val = make([]T, nnz)
	for i := range coo.Val {
		coo.Val[i] = 1
	}
	return &Set[T]{COO: coo}, nil
}

// numbers reads whole numbers between blanks and line ends, however they are spread on lines.
type numbers struct {
	in  *text
	ctx context.Context
	buf []byte // read and not yet taken
	own []byte // memory of buf
	ln  int64  // line ends taken since the header
}

func (n *numbers) line() int64 { return n.in.line + n.ln + 1 }

func (n *numbers) bad(got, want string) error {
	return &ParseError{File: n.in.name, Line: n.line(), Got: got, Want: want}
}

// next returns the next number, or io.EOF after the last.
func (n *numbers) next() (int64, error) {
	const longest = 32 // digits: more are no number that anyone means
	for {
		i := 0
		for i < len(n.buf) && isSpace(n.buf[i]) {
			if n.buf[i] == '\n' {
				n.ln++
			}
			i++
		}
		n.buf = n.buf[i:]
		v, end := digits(n.buf, 0)
		if end > longest || end < len(n.buf) && (end == 0 || !isSpace(n.buf[end])) {
			for end < len(n.buf) && !isSpace(n.buf[end]) {
				end++
			}
			return 0, n.bad(quote(n.buf[:end]), "a whole number")
		}
		if end < len(n.buf) {
			n.buf = n.buf[end:]
			return v, nil
		}
		err := n.fill()
		if err == io.EOF && end > 0 { // the last number ends with the file
			n.buf = nil
			return v, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// fill reads more behind what is left of buf.
func (n *numbers) fill() error {
	if err := n.ctx.Err(); err != nil {
		return err
	}
	if n.own == nil {
		n.own = make([]byte, sampleSize)
	}
	k := copy(n.own, n.buf)
	m, err := io.ReadAtLeast(n.in.br, n.own[k:], 1)
	n.buf = n.own[:k+m]
	if err != nil && err != io.EOF {
		return n.in.readErrorAt(n.line(), err)
	}
	return err
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
