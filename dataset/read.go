package dataset

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"sddmmkit/sparse"
)

// Read reads a matrix from a file, plain or compressed with gzip or zstd. See the package
// documentation for how the format is found.
//
// A file that is wrong gives one *ParseError that names the file, the line and what was
// expected; a file that cannot be opened, the error of the operating system. Memory grows with
// what is read, never with what a header promises. When ctx is done, Read returns its error.
func Read[T sparse.Float](ctx context.Context, path string, opt Options) (*Set[T], error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &ParseError{File: path, Got: "a directory", Want: "a file"}
	}
	// A read that waits (a pipe, a network file system) ends when the file is closed.
	stop := context.AfterFunc(ctx, func() { f.Close() })
	defer stop()
	s, err := ReadFrom[T](ctx, path, f, opt)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s, err
}

// ReadFrom reads a matrix from a stream, as Read does. The name stands in errors and in the
// set, and its extension helps to find the format.
func ReadFrom[T sparse.Float](ctx context.Context, name string, r io.Reader, opt Options) (*Set[T], error) {
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	plain, done, err := unpack(name, bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	defer done()
	in := newText(name, plain, opt)
	format, err := chooseFormat(in, opt)
	if err != nil {
		return nil, err
	}
	if (opt.RowIDs != nil || opt.ColIDs != nil) && format != Ratings {
		return nil, &ParseError{File: name, Got: fmt.Sprintf("format %s, whose numbers are indices", format),
			Want: "a format with names, to continue an id map; name it as format ratings if that is what it is"}
	}
	if head, _ := in.br.Peek(3); bytes.Equal(head, utf8BOM) {
		in.br.Discard(len(utf8BOM))
	}
	s, err := readText[T](ctx, format, in, opt)
	if err != nil {
		return nil, err
	}
	s.Name, s.Format = name, format
	return s, nil
}

func readText[T sparse.Float](ctx context.Context, format Format, in *text, opt Options) (*Set[T], error) {
	switch format {
	case MatrixMarket:
		return readMatrixMarket[T](ctx, in, opt)
	case Ratings:
		return readRatings[T](ctx, in, opt)
	case Edges:
		return readEdges[T](ctx, in, opt)
	case Docword:
		return readDocword[T](ctx, in, opt)
	case SVMlight:
		return readSVMlight[T](ctx, in, opt)
	case LDAC:
		return readLDAC[T](ctx, in, opt)
	case Adjacency:
		return readAdjacency[T](ctx, in, opt)
	case SMTX:
		return readSMTX[T](ctx, in, opt)
	}
	return nil, fmt.Errorf("%s: no reader for format %q; formats of files are %s", in.name, format, formatList)
}

const formatList = "mtx, ratings, edges, docword, svmlight, ldac, adjacency, smtx, npz, parquet"

// check says what is wrong with the options themselves.
func (o *Options) check() error {
	if o.Rows < 0 || o.Cols < 0 {
		return fmt.Errorf("declared shape %d×%d: want positive numbers, or 0 for none", o.Rows, o.Cols)
	}
	if max(o.Rows, o.Cols) > maxIndex+1 {
		return fmt.Errorf("declared shape %d×%d: want at most %d rows and columns", o.Rows, o.Cols, maxIndex+1)
	}
	return nil
}
