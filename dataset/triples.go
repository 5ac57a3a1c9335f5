package dataset

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/sparse"
)

// valueKind says what follows the two indices of a line.
type valueKind uint8

const (
	noValue   valueKind = iota // nothing: the value is 1
	realValue                  // a finite number
	wholeValue
)

// mirror says what an entry off the diagonal implies at the mirrored place.
type mirror uint8

const (
	noMirror   mirror = iota
	sameMirror        // the same value
	skewMirror        // its negative; the diagonal is zero and not stored
)

// triples describes the formats of one entry a line: two indices and perhaps a value.
type triples struct {
	file       string
	what       [3]string // names of the fields in errors
	base       int64     // the number of the first row: 0 or 1
	rows, cols int64
	value      valueKind
	mirror     mirror
	comments   bool // lines that start with # or % say nothing
}

// triplesParser returns a parser of such lines.
func triplesParser[T sparse.Float](t *triples) parser[T] {
	return func(b block, out *entries[T]) error {
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
			if t.comments && (s[p] == '#' || s[p] == '%') {
				continue
			}
			i, end := digits(s, p)
			if end == p || end < len(s) && s[end] != ' ' && s[end] != '\t' {
				return t.badIndex(l.line, s, 0)
			}
			i -= t.base
			if uint64(i) >= uint64(t.rows) {
				return t.badIndex(l.line, s, 0)
			}
			p = skipBlanks(s, end)
			j, end := digits(s, p)
			if end == p || end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '\r' {
				return t.badIndex(l.line, s, 1)
			}
			j -= t.base
			if uint64(j) >= uint64(t.cols) {
				return t.badIndex(l.line, s, 1)
			}
			p = skipBlanks(s, end)
			v := T(1)
			if t.value != noValue {
				end = p
				for end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '\r' {
					end++
				}
				if v, ok = parseFloat[T](s[p:end]); !ok || t.value == wholeValue && float64(v) != math.Trunc(float64(v)) {
					return t.badValue(l.line, s, s[p:end])
				}
				p = skipBlanks(s, end)
			}
			if p < len(s) {
				return t.badCount(l.line, s)
			}
			if t.mirror == skewMirror && i == j {
				return &ParseError{File: t.file, Line: l.line, Got: fmt.Sprintf("the diagonal entry (%d, %d)", i+t.base, j+t.base),
					Want: "none in a skew-symmetric matrix"}
			}
			out.stored++
			out.row = append(out.row, int32(i))
			out.col = append(out.col, int32(j))
			if t.value != noValue {
				out.val = append(out.val, v)
			}
			if t.mirror == noMirror || i == j {
				continue
			}
			out.row = append(out.row, int32(j))
			out.col = append(out.col, int32(i))
			if t.mirror == skewMirror {
				v = -v
			}
			if t.value != noValue {
				out.val = append(out.val, v)
			}
		}
	}
}

func (t *triples) fields() int {
	if t.value == noValue {
		return 2
	}
	return 3
}

// badIndex explains what is wrong with field n of a line.
func (t *triples) badIndex(line int64, s []byte, n int) error {
	f := blankFields(s)
	if len(f) <= n {
		return t.badCount(line, s)
	}
	limit := t.rows
	if n == 1 {
		limit = t.cols
	}
	return &ParseError{File: t.file, Line: line, Got: t.what[n] + " " + quote(f[n]),
		Want: wantIndex(t.base, limit)}
}

// wantIndex describes the indices allowed in [base, base+limit).
func wantIndex(base, limit int64) string {
	if limit == 0 {
		return "no entries in an empty matrix"
	}
	return fmt.Sprintf("a whole number from %d to %d", base, base+limit-1)
}

func (t *triples) badValue(line int64, s, v []byte) error {
	if len(v) == 0 {
		return t.badCount(line, s)
	}
	return &ParseError{File: t.file, Line: line, Got: t.what[2] + " " + quote(v), Want: wantNumber[t.value]}
}

var wantNumber = map[valueKind]string{realValue: "a finite number", wholeValue: "a whole number"}

func (t *triples) badCount(line int64, s []byte) error {
	want := fmt.Sprintf("2 (%s %s)", t.what[0], t.what[1])
	if t.fields() == 3 {
		want = fmt.Sprintf("3 (%s %s %s)", t.what[0], t.what[1], t.what[2])
	}
	return &ParseError{File: t.file, Line: line, Got: fmt.Sprintf("%d fields in %s", len(blankFields(s)), quote(s)), Want: want}
}

// counted is a merge step that holds the number of entries against what a header promised.
type counted struct {
	t      *triples
	seen   int64
	want   int64
	header int64 // the line of the promise
}

func countedMerge[T sparse.Float](c *counted) func(block, *entries[T]) error {
	return func(b block, e *entries[T]) error {
		if e.stored > c.want-c.seen {
			return &ParseError{File: c.t.file, Line: c.t.entryLine(b, c.want-c.seen),
				Got: "one entry more", Want: fmt.Sprintf("only the %d that line %d promises", c.want, c.header)}
		}
		c.seen += e.stored
		return nil
	}
}

// finish says whether entries are missing at the end of the file.
func (c *counted) finish() error {
	if c.seen == c.want {
		return nil
	}
	return &ParseError{File: c.t.file, Line: c.header, Got: fmt.Sprintf("%d entries up to the end of the file", c.seen),
		Want: fmt.Sprintf("the %d that this line promises", c.want)}
}

// entryLine returns the line of the n-th entry of a block, from 0.
func (t *triples) entryLine(b block, n int64) int64 {
	l := newLines(b)
	for {
		s, ok := l.next()
		if !ok {
			return l.line
		}
		p := skipBlanks(s, 0)
		if p == len(s) || t.comments && (s[p] == '#' || s[p] == '%') {
			continue
		}
		if n == 0 {
			return l.line
		}
		n--
	}
}

// readCounted reads the entries that follow a header with the shape and the number of entries.
func readCounted[T sparse.Float](ctx context.Context, in *text, opt Options, t *triples, nnz, header int64) (*Set[T], error) {
	c := &counted{t: t, want: nnz, header: header}
	parts, err := collect(ctx, in, opt.Threads, func() parser[T] { return triplesParser[T](t) }, countedMerge[T](c))
	if err != nil {
		return nil, err
	}
	if err := c.finish(); err != nil {
		return nil, err
	}
	coo, _, err := join(ctx, opt.Threads, parts)
	if err != nil {
		return nil, err
	}
	coo.Rows, coo.Cols = int(t.rows), int(t.cols)
	return &Set[T]{COO: coo}, nil
}

// blankFields splits a line at blanks.
func blankFields(s []byte) [][]byte {
	var f [][]byte
	for i := skipBlanks(s, 0); i < len(s); {
		end := i
		for end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '\r' {
			end++
		}
		f = append(f, s[i:end])
		i = skipBlanks(s, end)
	}
	return f
}
