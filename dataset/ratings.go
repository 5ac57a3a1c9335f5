package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"sddmmkit/sparse"
)

// readRatings reads lines of user, item and perhaps rating and time. Users and items are any
// strings; they get indices in order of first appearance.
func readRatings[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	if opt.Rows > 0 || opt.Cols > 0 {
		return nil, &ParseError{File: in.name, Got: "a declared shape", Want: "none for ratings: theirs is the number of names"}
	}
	lay, err := findLayout(in, opt)
	if err != nil {
		return nil, err
	}
	skip := lay.first - 1
	if lay.header {
		skip++
	}
	for range skip {
		if _, err := in.headerLine(); err != nil {
			if err == io.EOF {
				break
			}
			return nil, err
		}
	}

	users, items := newIDTable(), newIDTable()
	if opt.RowIDs != nil {
		users.seed(opt.RowIDs)
	}
	if opt.ColIDs != nil {
		items.seed(opt.ColIDs)
	}
	// The blocks number their names each for itself. Merged in order, names get the indices
	// that one reader would have given them.
	var ofUser, ofItem []int32
	merge := func(_ block, e *entries[T]) error {
		ofUser, ofItem = indicesIn(users, e.users, ofUser), indicesIn(items, e.items, ofItem)
		for i, u := range e.row {
			e.row[i] = ofUser[u]
		}
		for i, v := range e.col {
			e.col[i] = ofItem[v]
		}
		e.users, e.items = nil, nil
		if err := users.checkCount(in.name); err != nil {
			return err
		}
		return items.checkCount(in.name)
	}
	parts, err := collect(ctx, in, opt.Threads, func() parser[T] {
		p := &ratingsParser[T]{file: in.name, lay: lay, users: newIDTable(), items: newIDTable()}
		return p.parse
	}, merge)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, noEntries(in.name, "ratings")
	}
	coo, times, err := join(ctx, opt.Threads, parts)
	if err != nil {
		return nil, err
	}
	s := &Set[T]{COO: coo, Time: times, Rows: users.ids(opt.RowIDs), Cols: items.ids(opt.ColIDs)}
	coo.Rows, coo.Cols = s.Rows.Len(), s.Cols.Len()
	return s, nil
}

// indicesIn returns the index in t of each of a block's names.
func indicesIn(t *idTable, names []idName, dst []int32) []int32 {
	dst = dst[:0]
	for _, n := range names {
		dst = append(dst, t.merge(n))
	}
	return dst
}

// ratingsParser is the state of one goroutine.
type ratingsParser[T sparse.Float] struct {
	file         string
	lay          *layout
	users, items *idTable
	fields       [][]byte
}

func (p *ratingsParser[T]) parse(b block, out *entries[T]) error {
	p.users.reset()
	p.items.reset()
	defer func() { out.users, out.items = p.users.names, p.items.names }()
	l := newLines(b)
	for {
		s, ok := l.next()
		if !ok {
			return nil
		}
		if len(s) == 0 || s[0] == ' ' && skipBlanks(s, 0) == len(s) {
			continue
		}
		if p.fields, ok = p.cut(s); !ok {
			return p.bad(l.line, "a quote that does not close on its line, in "+quote(s), "a closing quote")
		}
		if len(p.fields) != p.lay.fields {
			return p.bad(l.line, fmt.Sprintf("%d fields in %s", len(p.fields), quote(s)), fmt.Sprintf("%d, as on line %d", p.lay.fields, p.lay.first))
		}
		for i, role := range p.lay.roles {
			f := p.fields[i]
			switch role {
			case userRole:
				if !isName(f) {
					return p.bad(l.line, "user "+quote(f), "a name")
				}
				out.row = append(out.row, p.users.id(f))
			case itemRole:
				if !isName(f) {
					return p.bad(l.line, "item "+quote(f), "a name")
				}
				out.col = append(out.col, p.items.id(f))
			case ratingRole:
				v, ok := parseFloat[T](f)
				if !ok {
					return p.bad(l.line, "rating "+quote(f), "a finite number")
				}
				out.val = append(out.val, v)
			case timeRole:
				t, ok := parseTime(f)
				if !ok {
					return p.bad(l.line, "time "+quote(f), "seconds since 1970, or a date such as 2006-01-02")
				}
				out.time = append(out.time, t)
			}
		}
		out.stored++
	}
}

// cut splits a line. The common case of no quotes and no blanks to trim is done here; the rest
// by splitFields.
func (p *ratingsParser[T]) cut(s []byte) ([][]byte, bool) {
	fields, d := p.fields[:0], p.lay.delim
	if d == blanks {
		return splitFields(fields, s, d)
	}
	width := 1
	if d == colons {
		width = 2
	}
	for from := 0; ; {
		end := from
		for end < len(s) && (s[end] != d || width == 2 && (end+1 == len(s) || s[end+1] != ':')) {
			end++
		}
		f := s[from:end]
		if len(f) > 0 && (f[0] == '"' || f[0] == ' ' || f[len(f)-1] == ' ') {
			return splitFields(p.fields[:0], s, d)
		}
		fields = append(fields, f)
		if end == len(s) {
			return fields, true
		}
		from = end + width
	}
}

func (p *ratingsParser[T]) bad(line int64, got, want string) error {
	return &ParseError{File: p.file, Line: line, Got: got, Want: want}
}

// isName reports whether a field can be a name: anything but nothing, and no NUL, which only
// binary data have.
func isName(f []byte) bool { return len(f) > 0 && bytes.IndexByte(f, 0) < 0 }

func isTime(b []byte) bool {
	_, ok := parseTime(b)
	return ok
}

// parseTime reads a time as seconds since 1970 (a fraction is dropped) or as a date.
func parseTime(b []byte) (int64, bool) {
	i := 0
	if len(b) > 0 && b[0] == '-' {
		i = 1
	}
	if v, end := digits(b, i); end == len(b) && end > i && v < math.MaxInt64 {
		if i == 1 {
			v = -v
		}
		return v, true
	}
	if f, ok := parseFloat[float64](b); ok {
		return int64(f), math.Abs(f) < 1<<62
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if t, err := time.Parse(layout, string(b)); err == nil {
			return t.Unix(), true
		}
	}
	return 0, false
}
