package npz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sbinet/npyio/npy"
)

// maxHeader bounds the text of an .npy header; NumPy itself refuses to read more than 10 000 bytes.
const maxHeader = 1 << 16

// readHeader reads the header of one .npy stream and leaves r at the first element.
//
// The text is parsed by npyio. It gets no more than maxHeader bytes, already in memory, so a lying
// length costs nothing; its parser indexes without looking, so a panic there means malformed text.
func readHeader(r io.Reader) (d dtype, shape []int, fortran bool, err error) {
	var head [12]byte
	if _, err = io.ReadFull(r, head[:10]); err != nil {
		return d, nil, false, fmt.Errorf("its .npy header is cut short: %w", unexpected(err))
	}
	if !bytes.Equal(head[:6], npy.Magic[:]) {
		return d, nil, false, errors.New("it is not an array in .npy form: want the magic bytes \\x93NUMPY")
	}
	var text int64
	switch head[6] {
	case 1:
		text = int64(binary.LittleEndian.Uint16(head[8:]))
	case 2, 3:
		if _, err = io.ReadFull(r, head[10:]); err != nil {
			return d, nil, false, fmt.Errorf("its .npy header is cut short: %w", unexpected(err))
		}
		text = int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return d, nil, false, fmt.Errorf("its .npy version is %d.%d; want 1, 2 or 3", head[6], head[7])
	}
	if text > maxHeader {
		return d, nil, false, fmt.Errorf("its .npy header claims %d bytes; want at most %d", text, maxHeader)
	}
	// npyio knows versions 1 and 2; 3 differs from 2 only in the encoding of field names.
	full := binary.LittleEndian.AppendUint32(append(npy.Magic[:], 2, 0), uint32(text))
	full = append(full, make([]byte, text)...)
	if _, err = io.ReadFull(r, full[12:]); err != nil {
		return d, nil, false, fmt.Errorf("its .npy header is cut short: %w", unexpected(err))
	}
	h, err := parseHeader(full)
	if err != nil {
		return d, nil, false, fmt.Errorf("its .npy header %.200q is malformed: %v", full[12:], err)
	}
	d, err = parseDtype(h.Descr.Type)
	return d, h.Descr.Shape, h.Descr.Fortran, err
}

func parseHeader(b []byte) (h npy.Header, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("want {'descr': …, 'fortran_order': …, 'shape': …}")
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(b))
	if err != nil {
		return h, err
	}
	return r.Header, nil
}

// appendHeader appends a version 1 header, padded so that the elements start at a multiple of 64.
func appendHeader(b []byte, descr string, shape []int) []byte {
	text := []byte("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (")
	for i, n := range shape {
		if i > 0 {
			text = append(text, ' ')
		}
		text = fmt.Appendf(text, "%d,", n)
	}
	if len(shape) > 1 {
		text = text[:len(text)-1] // Python's one-element tuple keeps its comma
	}
	text = append(text, "), }"...)
	for (10+len(text)+1)%64 != 0 {
		text = append(text, ' ')
	}
	text = append(text, '\n')
	b = append(b, npy.Magic[:]...)
	b = append(b, 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

// unexpected turns the end of the stream into the error that says it came too early.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
