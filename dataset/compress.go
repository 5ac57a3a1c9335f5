package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A zstd frame asks its reader for memory, the window: up to 8 MiB at the usual levels, up to
// 128 MiB with --ultra and --long. A reader must grant the first to any file, but the second
// only to one large enough to be worth it, or a few bytes could claim it.
const (
	minWindow     = 8 << 20
	maxWindow     = 128 << 20
	windowPerByte = 64 // of compressed data
)

// compressionError marks a failure of a decompressor.
type compressionError struct {
	kind string // "gzip" or "zstd"
	err  error
}

func (e *compressionError) Error() string { return e.kind + ": " + e.err.Error() }
func (e *compressionError) Unwrap() error { return e.err }

// unpacker is a reader of decompressed bytes.
type unpacker struct {
	kind string
	r    io.Reader
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = &compressionError{u.kind, err}
	}
	return n, err
}

// unpack returns a reader of what br holds, decompressed where it is gzip or zstd by its first
// bytes; names say nothing here, for files lose and gain suffixes on their way. Concatenated
// members are one file. done frees the decompressor.
func unpack(name string, br *bufio.Reader) (r io.Reader, done func(), err error) {
	head, err := br.Peek(6)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, nil, &ParseError{File: name, Got: "a read error", Want: "a readable file", Err: err}
	}
	fail := func(kind string, err error) error {
		e := &ParseError{File: name, Line: 1, Got: "a damaged " + kind + " header", Want: "a file that " + kind + " can unpack", Err: err}
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			e.Got, e.Want = "the end of the file within its "+kind+" header", "a complete file: this one is cut off"
		}
		return e
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, fail("gzip", err)
		}
		return &unpacker{"gzip", z}, func() { z.Close() }, nil
	case isZstd(head):
		start, err := io.ReadAll(io.LimitReader(br, maxWindow/windowPerByte))
		if err != nil {
			return nil, nil, fail("zstd", err)
		}
		window := max(minWindow, windowPerByte*len(start))
		z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(start), br), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, nil, fail("zstd", err)
		}
		return &unpacker{"zstd", z}, z.Close, nil
	}
	for magic, kind := range map[string]string{"BZh": "bzip2", "\xfd7zXZ\x00": "xz", "7z\xbc\xaf\x27\x1c": "7-zip", "\x04\x22\x4d\x18": "lz4"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil, nil, &ParseError{File: name, Got: kind + " data", Want: "gzip, zstd or no compression: unpack it first"}
		}
	}
	return br, func() {}, nil
}

// isZstd recognises a zstd frame and a skippable frame, which may come before it.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}
