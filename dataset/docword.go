package dataset

import (
	"bytes"
	"context"
	"io"

	"sddmmkit/sparse"
)

// readDocword reads a UCI bag of words: three lines with the number of documents, of words and
// of entries, then a line "document word count" for each entry, 1-based.
func readDocword[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	what := [3]string{"number of documents", "number of words", "number of entries"}
	var size [3]int64
	for i := range size {
		s, err := in.headerLine()
		if err == io.EOF {
			return nil, &ParseError{File: in.name, Line: in.line, Got: "the end of the file", Want: "the " + what[i] + " on a line"}
		}
		if err != nil {
			return nil, err
		}
		s = bytes.TrimSpace(s)
		n, end := digits(s, 0)
		if end == 0 || end != len(s) {
			return nil, &ParseError{File: in.name, Line: in.line, Got: quote(s), Want: "the " + what[i]}
		}
		size[i] = n
	}
	t := &triples{file: in.name, what: [3]string{"document", "word", "count"}, base: 1, rows: size[0], cols: size[1], value: realValue}
	if err := opt.checkHeaderShape(in.name, in.line, t.rows, t.cols); err != nil {
		return nil, err
	}
	return readCounted[T](ctx, in, opt, t, size[2], in.line)
}
