package dataset

import (
	"bytes"
	"context"
	"fmt"

	"sddmmkit/sparse"
)

// pairs describes the formats whose lines are rows: a number, then "id:value" fields.
type pairs struct {
	file string
	base int64 // the number of the first column: 0 or 1
	cols int64
	// lead takes what stands before the pairs and returns where they start, and how many there
	// must be, or -1.
	lead func(line int64, s []byte) (pos int, count int64, err error)
	svm  bool // "qid:" pairs and # comments are let through
}

func pairsParser[T sparse.Float](t *pairs) parser[T] {
	return func(b block, out *entries[T]) error {
		l := newLines(b)
		for {
			s, ok := t.nextRow(&l)
			if !ok {
				return nil
			}
			p, count, err := t.lead(l.line, s)
			if err != nil {
				return err
			}
			row := int32(out.rows) // within the block; merged later
			n := int64(0)
			for p = skipBlanks(s, p); p < len(s); p = skipBlanks(s, p) {
				end := p
				for end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '\r' {
					end++
				}
				id, colon := digits(s, p)
				if colon == p || colon >= end || s[colon] != ':' {
					if t.svm && bytes.HasPrefix(s[p:end], []byte("qid:")) {
						p = end
						continue
					}
					return &ParseError{File: t.file, Line: l.line, Got: quote(s[p:end]), Want: "id:value, the id a whole number"}
				}
				id -= t.base
				if uint64(id) >= uint64(t.cols) {
					return &ParseError{File: t.file, Line: l.line, Got: "id " + quote(s[p:colon]), Want: wantIndex(t.base, t.cols)}
				}
				v, ok := parseFloat[T](s[colon+1 : end])
				if !ok {
					return &ParseError{File: t.file, Line: l.line, Got: fmt.Sprintf("value %s of id %s", quote(s[colon+1:end]), s[p:colon]), Want: "a finite number"}
				}
				out.row = append(out.row, row)
				out.col = append(out.col, int32(id))
				out.val = append(out.val, v)
				n++
				p = end
			}
			if count >= 0 && n != count {
				return &ParseError{File: t.file, Line: l.line, Got: fmt.Sprintf("%d pairs", n), Want: fmt.Sprintf("the %d that the line promises", count)}
			}
			out.rows++
		}
	}
}

// nextRow returns the next line with data, without its comment.
func (t *pairs) nextRow(l *lines) ([]byte, bool) {
	for {
		s, ok := l.next()
		if !ok {
			return nil, false
		}
		if t.svm {
			if i := bytes.IndexByte(s, '#'); i >= 0 {
				s = s[:i]
			}
		}
		if skipBlanks(s, 0) < len(s) {
			return s, true
		}
	}
}

// rowLine returns the line of the n-th row of a block, from 0.
func (t *pairs) rowLine(b block, n int64) int64 {
	l := newLines(b)
	for ok := true; ok && n >= 0; n-- {
		_, ok = t.nextRow(&l)
	}
	return l.line
}

// readPairs reads a file of such lines; line number k with data becomes row k.
func readPairs[T sparse.Float](ctx context.Context, in *text, opt Options, t *pairs) (*Set[T], error) {
	maxRows, cols := opt.limits()
	t.cols = cols
	rows := int64(0)
	merge := func(b block, e *entries[T]) error {
		if rows+e.rows > maxRows {
			return &ParseError{File: in.name, Line: t.rowLine(b, maxRows-rows), Got: "one row more", Want: fmt.Sprintf("at most %d", maxRows)}
		}
		for i := range e.row {
			e.row[i] += int32(rows)
		}
		rows += e.rows
		return nil
	}
	parts, err := collect(ctx, in, opt.Threads, func() parser[T] { return pairsParser[T](t) }, merge)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, noEntries(in.name, "rows")
	}
	coo, _, err := join(ctx, opt.Threads, parts)
	if err != nil {
		return nil, err
	}
	coo.Rows, coo.Cols = int(rows), shapeOf(opt.Cols, coo.Col)
	if opt.Rows > 0 {
		coo.Rows = opt.Rows
	}
	return &Set[T]{COO: coo}, nil
}
