package dataset

import (
	"bytes"
	"context"

	"sddmmkit/sparse"
)

// readSVMlight reads SVMlight and LIBSVM files: a line "label [qid:n] id:value …" for each row,
// ids from 1, and comments that start with #. Labels (one number, or several between commas)
// and query ids are read over.
func readSVMlight[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	lead := func(line int64, s []byte) (int, int64, error) {
		p := skipBlanks(s, 0)
		end := p
		for end < len(s) && s[end] != ' ' && s[end] != '\t' {
			end++
		}
		for label := range bytes.SplitSeq(s[p:end], []byte{','}) {
			if _, ok := parseFloat[float64](label); !ok {
				return 0, 0, &ParseError{File: in.name, Line: line, Got: "label " + quote(s[p:end]), Want: "a number before the pairs"}
			}
		}
		return end, -1, nil
	}
	return readPairs[T](ctx, in, opt, &pairs{file: in.name, base: 1, lead: lead, svm: true})
}
