package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// Writer writes an .npz archive to a stream, one array after the other.
type Writer struct {
	// Compress deflates the arrays written from then on, as numpy.savez_compressed does.
	// Indices shrink well; trained factors hardly do.
	Compress bool

	zip   *zip.Writer
	names map[string]bool
}

// NewWriter returns a writer of an archive to w. Close completes the archive.
func NewWriter(w io.Writer) *Writer {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	return &Writer{zip: z, names: map[string]bool{}}
}

// Close writes the archive's directory. It does not close the stream.
func (w *Writer) Close() error { return w.zip.Close() }

// Write adds an array under a name without ".npy". The data is a slice of bool, of an integer type
// of fixed size, of float32 or float64, of string (unicode) or of []byte (byte strings) with one
// element for every cell of the shape, in row-major order; the empty shape is a scalar.
func (w *Writer) Write(name string, shape []int, data any) error {
	if name == "" || w.names[name] {
		return fmt.Errorf("npz: array name %q is empty or used twice", name)
	}
	if err := w.write(name, shape, data); err != nil {
		return fmt.Errorf("npz: array %q: %w", name, err)
	}
	w.names[name] = true
	return nil
}

func (w *Writer) write(name string, shape []int, data any) error {
	le := binary.LittleEndian
	switch v := data.(type) {
	case []bool:
		return put(w, name, shape, "|b1", v, func(b []byte, x bool) ([]byte, error) {
			if x {
				return append(b, 1), nil
			}
			return append(b, 0), nil
		})
	case []int8:
		return put(w, name, shape, "|i1", v, func(b []byte, x int8) ([]byte, error) { return append(b, byte(x)), nil })
	case []uint8:
		return put(w, name, shape, "|u1", v, func(b []byte, x uint8) ([]byte, error) { return append(b, x), nil })
	case []int16:
		return put(w, name, shape, "<i2", v, func(b []byte, x int16) ([]byte, error) { return le.AppendUint16(b, uint16(x)), nil })
	case []uint16:
		return put(w, name, shape, "<u2", v, func(b []byte, x uint16) ([]byte, error) { return le.AppendUint16(b, x), nil })
	case []int32:
		return put(w, name, shape, "<i4", v, func(b []byte, x int32) ([]byte, error) { return le.AppendUint32(b, uint32(x)), nil })
	case []uint32:
		return put(w, name, shape, "<u4", v, func(b []byte, x uint32) ([]byte, error) { return le.AppendUint32(b, x), nil })
	case []int64:
		return put(w, name, shape, "<i8", v, func(b []byte, x int64) ([]byte, error) { return le.AppendUint64(b, uint64(x)), nil })
	case []uint64:
		return put(w, name, shape, "<u8", v, func(b []byte, x uint64) ([]byte, error) { return le.AppendUint64(b, x), nil })
	case []float32:
		return put(w, name, shape, "<f4", v, func(b []byte, x float32) ([]byte, error) {
			return le.AppendUint32(b, math.Float32bits(x)), nil
		})
	case []float64:
		return put(w, name, shape, "<f8", v, func(b []byte, x float64) ([]byte, error) {
			return le.AppendUint64(b, math.Float64bits(x)), nil
		})
	case []string:
		longest := 1
		for _, s := range v {
			longest = max(longest, utf8.RuneCountInString(s))
		}
		return put(w, name, shape, fmt.Sprintf("<U%d", longest), v, func(b []byte, s string) ([]byte, error) {
			return appendUnicode(b, s, longest)
		})
	case [][]byte:
		longest := 1
		for _, s := range v {
			longest = max(longest, len(s))
		}
		return put(w, name, shape, fmt.Sprintf("|S%d", longest), v, func(b []byte, s []byte) ([]byte, error) {
			if len(s) > 0 && s[len(s)-1] == 0 {
				return nil, fmt.Errorf("string %.40q ends in a NUL, which NumPy drops", s)
			}
			b = append(b, s...)
			return append(b, make([]byte, longest-len(s))...), nil
		})
	}
	return fmt.Errorf("cannot store %T", data)
}

// appendUnicode appends the characters of s, four bytes each, and NULs up to longest characters.
func appendUnicode(b []byte, s string, longest int) ([]byte, error) {
	if strings.HasSuffix(s, "\x00") {
		return nil, fmt.Errorf("string %.40q ends in a NUL, which NumPy drops", s)
	}
	n := 0
	for i, c := range s {
		if c == utf8.RuneError {
			if _, width := utf8.DecodeRuneInString(s[i:]); width == 1 {
				c = escape + rune(s[i])
			}
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(c))
		n++
	}
	return append(b, make([]byte, 4*(longest-n))...), nil
}

// put writes one member, add appending one element after the other.
func put[D any](w *Writer, name string, shape []int, descr string, v []D, add func(b []byte, x D) ([]byte, error)) error {
	if n, ok := elements(shape, 8); !ok || n != int64(len(v)) {
		return fmt.Errorf("shape %v does not fit %d elements", shape, len(v))
	}
	h := &zip.FileHeader{Name: name + ".npy", Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if w.Compress {
		h.Method = zip.Deflate
	}
	m, err := w.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	const flushAt = 1 << 16
	buf := appendHeader(make([]byte, 0, flushAt+1<<10), descr, shape)
	for i, x := range v {
		if buf, err = add(buf, x); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		if len(buf) >= flushAt {
			if _, err = m.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err = m.Write(buf)
	return err
}
