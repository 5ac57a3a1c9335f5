package dataset

import (
	"context"

	"sddmmkit/sparse"
)

// readAdjacency reads implicit feedback as adjacency lists: a line "u i i i …" with a row and
// its columns, from 0; each value is 1. A row may have no columns, or several lines.
func readAdjacency[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	maxRows, maxCols := opt.limits()
	parse := func(b block, out *entries[T]) error {
		l := newLines(b)
		for {
			s, ok := l.next()
			if !ok {
				return nil
			}
			p := skipBlanks(s, 0)
			if p == len(s) {
				continue
			}
			row, end := digits(s, p)
			if !blankAt(s, p, end) || row >= maxRows {
				return &ParseError{File: in.name, Line: l.line, Got: "row " + quote(fieldAt(s, p)), Want: wantIndex(0, maxRows)}
			}
			// A row without columns still counts for the shape.
			out.rows = max(out.rows, row+1)
			for p = skipBlanks(s, end); p < len(s); p = skipBlanks(s, end) {
				var col int64
				col, end = digits(s, p)
				if !blankAt(s, p, end) || col >= maxCols {
					return &ParseError{File: in.name, Line: l.line, Got: "column " + quote(fieldAt(s, p)), Want: wantIndex(0, maxCols)}
				}
				out.row = append(out.row, int32(row))
				out.col = append(out.col, int32(col))
			}
		}
	}
	rows := int64(0)
	merge := func(_ block, e *entries[T]) error {
		rows = max(rows, e.rows)
		return nil
	}
	parts, err := collect(ctx, in, opt.Threads, func() parser[T] { return parse }, merge)
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

// blankAt reports whether digits were found from p to end, and a blank or the end follows.
func blankAt(s []byte, p, end int) bool {
	return end > p && (end == len(s) || s[end] == ' ' || s[end] == '\t' || s[end] == '\r')
}

// fieldAt returns the field that starts at p.
func fieldAt(s []byte, p int) []byte {
	end := p
	for end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '\r' {
		end++
	}
	return s[p:end]
}
