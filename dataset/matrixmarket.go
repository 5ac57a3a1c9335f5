package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"sddmmkit/sparse"
)

// readMatrixMarket reads the coordinate format: a banner, % comments, a line "rows cols nnz",
// then nnz lines "row col [value]", 1-based. Symmetric and skew-symmetric matrices come out
// whole, each entry off the diagonal followed by its mirror image.
func readMatrixMarket[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	banner, err := in.headerLine()
	if err == io.EOF {
		banner = nil
	} else if err != nil {
		return nil, err
	}
	t := &triples{file: in.name, what: [3]string{"row", "column", "value"}, base: 1, comments: true}
	if err := t.parseBanner(in.line, banner); err != nil {
		return nil, err
	}
	for {
		s, err := in.headerLine()
		if err == io.EOF {
			return nil, &ParseError{File: in.name, Line: in.line, Got: "the end of the file", Want: `a line "rows columns entries"`}
		}
		if err != nil {
			return nil, err
		}
		if s = bytes.TrimSpace(s); len(s) == 0 || s[0] == '%' {
			continue
		}
		f := blankFields(s)
		var size [3]int64
		ok := len(f) == 3
		for i := 0; ok && i < 3; i++ {
			var end int
			size[i], end = digits(f[i], 0)
			ok = end == len(f[i])
		}
		if !ok {
			return nil, &ParseError{File: in.name, Line: in.line, Got: quote(s), Want: `"rows columns entries", three whole numbers`}
		}
		t.rows, t.cols = size[0], size[1]
		if err := opt.checkHeaderShape(in.name, in.line, t.rows, t.cols); err != nil {
			return nil, err
		}
		if t.mirror != noMirror && t.rows != t.cols {
			return nil, &ParseError{File: in.name, Line: in.line, Got: fmt.Sprintf("a symmetric matrix of %d×%d", t.rows, t.cols), Want: "a square one"}
		}
		return readCounted[T](ctx, in, opt, t, size[2], in.line)
	}
}

// isBanner reports whether a file starts as MatrixMarket files do; some lack one of the two %.
func isBanner(head []byte) bool {
	s := bytes.TrimPrefix(bytes.TrimPrefix(head, []byte{'%'}), []byte{'%'})
	const word = "matrixmarket"
	return len(s) < len(head) && len(s) >= len(word) && strings.EqualFold(string(s[:len(word)]), word)
}

// parseBanner takes the line "%%MatrixMarket matrix coordinate FIELD SYMMETRY".
func (t *triples) parseBanner(line int64, banner []byte) error {
	bad := func(got, want string) error {
		return &ParseError{File: t.file, Line: max(line, 1), Got: got, Want: want}
	}
	f := strings.Fields(strings.ToLower(string(banner)))
	if !isBanner(banner) || len(f) != 5 {
		return bad(quote(banner), `a banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY"`)
	}
	if f[1] != "matrix" {
		return bad("object "+quote([]byte(f[1])), "matrix")
	}
	if f[2] != "coordinate" {
		return bad("layout "+quote([]byte(f[2])), "coordinate: only sparse matrices are read")
	}
	switch f[3] {
	case "real", "double":
		t.value = realValue
	case "integer":
		t.value = wholeValue
	case "pattern":
		t.value = noValue
	default:
		return bad("field "+quote([]byte(f[3])), "real, integer or pattern")
	}
	switch f[4] {
	case "general":
	case "symmetric":
		t.mirror = sameMirror
	case "skew-symmetric":
		t.mirror = skewMirror
		if t.value == noValue {
			return bad("a skew-symmetric pattern", "values, for a pattern has no signs")
		}
	default:
		return bad("symmetry "+quote([]byte(f[4])), "general, symmetric or skew-symmetric")
	}
	return nil
}
