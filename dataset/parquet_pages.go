package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// maxPage is the largest page accepted, unpacked. Writers aim at a megabyte; some put a whole
// row group into one page.
const maxPage = 1 << 30

// pageReader walks over the pages of one column chunk.
type pageReader struct {
	r       io.ReaderAt
	at, end int64 // what is left of the chunk in the file
	codec   format.CompressionCodec
}

// newPageReader returns a reader of the chunk that the metadata describes, in a file of that size.
func newPageReader(r io.ReaderAt, size int64, m *format.ColumnMetaData) (*pageReader, error) {
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	if start < 4 || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start {
		return nil, fmt.Errorf("it is said to take bytes %d to %d of a file of %d", start, start+m.TotalCompressedSize, size)
	}
	return &pageReader{r: r, at: start, end: start + m.TotalCompressedSize, codec: m.Codec}, nil
}

// next returns the header and the body, still packed, of the next page, and io.EOF after the last.
func (p *pageReader) next() (*format.PageHeader, []byte, error) {
	if p.at == p.end {
		return nil, nil, io.EOF
	}
	var h *format.PageHeader
	// Headers are short, but statistics may hold long strings.
	for window := int64(1 << 10); h == nil; window *= 8 {
		b := make([]byte, min(window, p.end-p.at))
		if _, err := p.r.ReadAt(b, p.at); err != nil && err != io.EOF {
			return nil, nil, err
		}
		h = new(format.PageHeader)
		n, err := decodeThrift(b, h)
		if err != nil {
			more := errors.Is(err, errThriftShort) || errors.Is(err, errThriftLies)
			if more && window < 1<<24 && int64(len(b)) < p.end-p.at {
				h = nil
				continue
			}
			return nil, nil, fmt.Errorf("page header at byte %d: %w", p.at, err)
		}
		p.at += int64(n)
	}
	packed, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if packed < 0 || packed > p.end-p.at {
		return nil, nil, fmt.Errorf("page of %d bytes at byte %d, where the column ends at byte %d", packed, p.at, p.end)
	}
	if unpacked < 0 || unpacked > maxPage {
		return nil, nil, fmt.Errorf("page at byte %d of %d bytes unpacked; want at most %d", p.at, unpacked, maxPage)
	}
	body := make([]byte, packed)
	if _, err := io.ReadFull(io.NewSectionReader(p.r, p.at, packed), body); err != nil {
		return nil, nil, err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
		return nil, nil, fmt.Errorf("page at byte %d does not have its checksum: the file is damaged", p.at)
	}
	p.at += packed
	return h, body, nil
}

// unpack decompresses to exactly size bytes. Memory grows with what comes out, not with size.
func (p *pageReader) unpack(body []byte, size int) ([]byte, error) {
	var (
		out []byte
		err error
	)
	switch p.codec {
	case format.Uncompressed:
		out = body
	case format.Snappy:
		// A snappy block begins with its length unpacked, and cannot be packed below a twentieth.
		n, e := snappy.DecodedLen(body)
		if e != nil || n != size || n > 32*len(body) {
			return nil, fmt.Errorf("its snappy block does not unpack to the %d bytes it claims", size)
		}
		out, err = snappy.Decode(nil, body)
	case format.Lz4Raw:
		// Nor can LZ4 pack below 1/255.
		if size > 255*len(body)+64 {
			return nil, fmt.Errorf("its LZ4 block does not unpack to the %d bytes it claims", size)
		}
		out, err = parquet.Lz4Raw.Decode(make([]byte, size), body)
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			out, err = readUpTo(z, size)
		}
	case format.Zstd:
		var z *zstd.Decoder
		window := min(max(minWindow, windowPerByte*len(body)), maxWindow)
		z, err = zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err == nil {
			out, err = readUpTo(z, size)
			z.Close()
		}
	default:
		return nil, fmt.Errorf("it is compressed with %s; rewrite it with zstd, snappy, gzip, lz4_raw or none", p.codec)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", p.codec, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("it unpacks to %d bytes and claims %d", len(out), size)
	}
	return out, nil
}

// readUpTo reads all of r, but no more than a byte beyond size.
func readUpTo(r io.Reader, size int) ([]byte, error) {
	var b bytes.Buffer
	_, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}
