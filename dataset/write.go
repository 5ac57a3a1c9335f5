package dataset

import (
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"sddmmkit/internal/atomicfile"
	"sddmmkit/sparse"
)

// WriteFile writes a set to path in the format that the extension names; the file is complete
// or absent.
//
//	.mtx                       MatrixMarket, 1-based indices; names and times are not kept
//	.csv .tsv                  ratings with a header: user, item, rating and, where known, time
//	.npz                       scipy's COO, with names and times in arrays of their own
//	.parquet                   columns user, item, rating and, where known, time
//	.mtx.gz .csv.zst …         the text formats, compressed
//
// Entries keep their order and duplicates stay. Where a set has no names, user and item are
// 0-based indices. Values are written so that reading them as T gives the same bits.
func WriteFile[T sparse.Float](path string, s *Set[T]) error {
	name := strings.ToLower(filepath.Base(path))
	base, packed := name, ""
	for _, ext := range []string{".gz", ".zst"} {
		if b, ok := strings.CutSuffix(name, ext); ok {
			base, packed = b, ext
		}
	}
	var write func(w io.Writer, s *Set[T]) error
	switch ext := filepath.Ext(base); {
	case ext == ".mtx":
		write = func(w io.Writer, s *Set[T]) error { return writeMatrixMarket(w, s.COO) }
	case ext == ".csv":
		write = writeCSV[T]
	case ext == ".tsv":
		write = writeTSV[T]
	case ext == ".npz" && packed == "":
		write = writeSetNPZ[T]
	case ext == ".parquet" && packed == "":
		write = WriteParquet[T]
	default:
		return fmt.Errorf("%s: cannot tell the format to write from the name; want it to end in .mtx, .csv or .tsv (also .gz, .zst), .npz or .parquet", path)
	}
	if err := s.validate(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		z, err := compressor(w, packed)
		if err != nil {
			return err
		}
		if err := write(z, s); err != nil {
			return err
		}
		return z.Close()
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// validate checks that the parts of a set fit each other.
func (s *Set[T]) validate() error {
	if err := s.COO.Validate(); err != nil {
		return err
	}
	if s.Rows != nil && s.Rows.Len() != s.COO.Rows || s.Cols != nil && s.Cols.Len() != s.COO.Cols {
		return fmt.Errorf("set %s: the id maps do not fit the %d×%d matrix; want one name per row and column", s.Name, s.COO.Rows, s.COO.Cols)
	}
	if s.Time != nil && len(s.Time) != len(s.COO.Val) {
		return fmt.Errorf("set %s: %d times for %d entries; want one each, or none", s.Name, len(s.Time), len(s.COO.Val))
	}
	return nil
}

// compressor returns a writer for the extension .gz, .zst or none.
func compressor(w io.Writer, ext string) (io.WriteCloser, error) {
	switch ext {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nopCloser{w}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// flushAt is the size at which the text writers hand their buffer on.
const flushAt = 1 << 16

// bitSize is the size of T for strconv, which then writes the shortest text that reads back as
// the same T.
func bitSize[T sparse.Float]() int {
	if any(T(0)) == any(float32(0)) {
		return 32
	}
	return 64
}
