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
	var at io.ReaderAt
	if info.Mode().IsRegular() {
		at = f
	}
	s, err := read[T](ctx, path, f, at, info.Size(), opt)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s, err
}

// ReadFrom reads a matrix from a stream, as Read does. The name stands in errors and in the
// set, and its extension helps to find the format. Formats that are not read from front to back
// (npz, Parquet) are first read into memory.
func ReadFrom[T sparse.Float](ctx context.Context, name string, r io.Reader, opt Options) (*Set[T], error) {
	return read[T](ctx, name, r, nil, 0, opt)
}

// binaryReaders are the readers of formats that are no text, by the bytes they start with.
func binaryReaders[T sparse.Float]() []binaryReader[T] {
	return []binaryReader[T]{
		{NPZ, "PK\x03\x04", readNPZ[T]},
		{Parquet, "PAR1", readParquet[T]},
	}
}

type binaryReader[T sparse.Float] struct {
	format Format
	magic  string
	read   func(ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) (*Set[T], error)
}

// read reads from r; at, if not nil, gives access to the same size bytes in any order.
func read[T sparse.Float](ctx context.Context, name string, r io.Reader, at io.ReaderAt, size int64, opt Options) (*Set[T], error) {
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	br := bufio.NewReader(r)
	for _, b := range binaryReaders[T]() {
		head, _ := br.Peek(len(b.magic))
		if string(head) != b.magic {
			if opt.Format == b.format {
				return nil, &ParseError{File: name, Got: "a file that starts with " + quote(head), Want: fmt.Sprintf("%s data, which start with %q", b.format, b.magic)}
			}
			continue
		}
		if opt.Format != "" && opt.Format != Auto && opt.Format != b.format {
			return nil, &ParseError{File: name, Got: fmt.Sprintf("%s data", b.format), Want: fmt.Sprintf("format %s, as asked for", opt.Format)}
		}
		if at == nil {
			all, err := io.ReadAll(br)
			if err != nil {
				return nil, &ParseError{File: name, Got: "a read error", Want: "a readable file", Err: err}
			}
			at, size = bytes.NewReader(all), int64(len(all))
		}
		return b.read(ctx, name, at, size, opt)
	}
	return readUnpacked[T](ctx, name, br, opt)
}

// readUnpacked reads text, compressed or not.
func readUnpacked[T sparse.Float](ctx context.Context, name string, br *bufio.Reader, opt Options) (*Set[T], error) {
	plain, done, err := unpack(name, br)
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
