package dataset

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseError says where a file is wrong, what stands there and what was expected.
type ParseError struct {
	File string
	Line int64  // from 1; 0 where the error belongs to no line
	Got  string // what was found, such as `rating "x"`; "" where Err says it all
	Want string // what was expected, and what to do
	Err  error  // the cause, where there is one below this package
}

// Error gives "file:line: got …, want …", or "file:line: cause".
func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(e.Line, 10))
	}
	if e.Got == "" && e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
		return b.String()
	}
	b.WriteString(": got ")
	b.WriteString(e.Got)
	if e.Want != "" {
		b.WriteString(", want ")
		b.WriteString(e.Want)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// quote shows text from a file in an error: escaped, and cut where it is long.
func quote(b []byte) string {
	const limit = 48
	if len(b) <= limit {
		return strconv.Quote(string(b))
	}
	return strconv.Quote(string(b[:limit])) + "…"
}
