package dataset

import (
	"context"

	"sddmmkit/sparse"
)

// readLDAC reads Blei's LDA-C format: a line "N id:count …" for each document, with N pairs and
// ids from 0.
func readLDAC[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	lead := func(line int64, s []byte) (int, int64, error) {
		p := skipBlanks(s, 0)
		n, end := digits(s, p)
		if end == p || end < len(s) && s[end] != ' ' && s[end] != '\t' {
			return 0, 0, &ParseError{File: in.name, Line: line, Got: quote(blankFields(s)[0]), Want: "the number of pairs on the line"}
		}
		return end, n, nil
	}
	return readPairs[T](ctx, in, opt, &pairs{file: in.name, base: 0, lead: lead})
}
