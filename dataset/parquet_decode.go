package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Decoders of the encodings that pages of numbers and strings come in. Each takes the page and
// the number of values to expect, and calls a function for each value.

var errPageShort = errors.New("it breaks off before its last value")

// hybrid decodes n numbers of the given width from runs of equal numbers and runs of packed bits
// (RLE/bit-packing hybrid).
func hybrid(b []byte, width uint, n int, each func(v uint32) error) error {
	if width > 32 {
		return fmt.Errorf("it has numbers of %d bits; want at most 32", width)
	}
	for n > 0 {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return errPageShort
		}
		b = b[k:]
		if head&1 == 0 { // a run of one number
			size := int(width+7) / 8
			if len(b) < size {
				return errPageShort
			}
			var v uint32
			for i := range size {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[size:]
			run := min(head>>1, uint64(n))
			if run == 0 {
				return errors.New("it has an empty run")
			}
			for range run {
				if err := each(v); err != nil {
					return err
				}
			}
			n -= int(run)
			continue
		}
		groups := head >> 1 // of eight numbers
		size := min(groups, uint64(n+7)/8) * uint64(width)
		if groups == 0 || size > uint64(len(b)) {
			return errPageShort
		}
		run := min(8*groups, uint64(n))
		p := bitStream{b: b}
		for range run {
			if err := each(uint32(p.next(width))); err != nil {
				return err
			}
		}
		b = b[min(groups*uint64(width), uint64(len(b))):]
		n -= int(run)
	}
	return nil
}

// bitStream takes numbers of a few bits from bytes, lowest bits first. Beyond the end it gives zeros.
type bitStream struct {
	b    []byte
	at   int
	held uint64
	n    uint
}

// next returns the next width ≤ 64 bits.
func (s *bitStream) next(width uint) uint64 {
	if width > 32 {
		low := s.next(32)
		return low | s.next(width-32)<<32
	}
	for s.n < width {
		var c byte
		if s.at < len(s.b) {
			c = s.b[s.at]
		}
		s.at++
		s.held |= uint64(c) << s.n
		s.n += 8
	}
	v := s.held & (1<<width - 1)
	s.held >>= width
	s.n -= width
	return v
}

// deltas decodes n integers stored as blocks of packed differences (DELTA_BINARY_PACKED) and
// returns what follows them. Integers of 32 bits wrap as such.
func deltas(b []byte, n int, wide bool, each func(v int64) error) (rest []byte, err error) {
	var head [3]uint64 // values per block, miniblocks per block, values
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errPageShort
		}
		head[i], b = v, b[k:]
	}
	first, k := binary.Varint(b)
	if k <= 0 {
		return nil, errPageShort
	}
	b = b[k:]
	block, minis := head[0], head[1]
	if head[2] != uint64(n) {
		return nil, fmt.Errorf("it holds %d differences for %d values", head[2], n)
	}
	if minis == 0 || block == 0 || block > 1<<20 || block%minis != 0 || block/minis%8 != 0 {
		return nil, fmt.Errorf("it has blocks of %d values in %d parts", block, minis)
	}
	if n == 0 {
		return b, nil
	}
	perMini := int(block / minis)
	v := first
	if err := each(v); err != nil {
		return nil, err
	}
	for n--; n > 0; {
		least, k := binary.Varint(b)
		if k <= 0 || uint64(len(b)-k) < minis {
			return nil, errPageShort
		}
		widths := b[k : k+int(minis)]
		b = b[k+int(minis):]
		for _, width := range widths {
			if n == 0 {
				break
			}
			if width > 64 {
				return nil, fmt.Errorf("it has differences of %d bits; want at most 64", width)
			}
			size := perMini / 8 * int(width)
			if size > len(b) {
				return nil, errPageShort
			}
			s := bitStream{b: b[:size]}
			for range min(perMini, n) {
				v += least + int64(s.next(uint(width)))
				if !wide {
					v = int64(int32(v))
				}
				if err := each(v); err != nil {
					return nil, err
				}
				n--
			}
			b = b[size:]
		}
	}
	return b, nil
}

// plainBytes decodes n strings that each stand behind their length.
func plainBytes(b []byte, n int, each func(s []byte) error) error {
	for range n {
		if len(b) < 4 {
			return errPageShort
		}
		size := binary.LittleEndian.Uint32(b)
		if uint64(size) > uint64(len(b)-4) {
			return errPageShort
		}
		if err := each(b[4 : 4+size]); err != nil {
			return err
		}
		b = b[4+size:]
	}
	return nil
}

// deltaBytes decodes n strings that stand behind all their lengths (DELTA_LENGTH_BYTE_ARRAY).
func deltaBytes(b []byte, n int, each func(s []byte) error) error {
	sizes, b, err := lengths(b, n)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		if size > int64(len(b)) {
			return errPageShort
		}
		if err := each(b[:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// prefixedBytes decodes n strings of which each shares a beginning with the one before it
// (DELTA_BYTE_ARRAY). The string that each gets is overwritten by the next.
func prefixedBytes(b []byte, n int, each func(s []byte) error) error {
	shared, b, err := lengths(b, n)
	if err != nil {
		return err
	}
	var s []byte
	return deltaBytes(b, n, func(rest []byte) error {
		if shared[0] > int64(len(s)) {
			return errPageShort
		}
		s = append(s[:shared[0]], rest...)
		shared = shared[1:]
		return each(s)
	})
}

// lengths decodes n lengths, which are differences, and returns what follows them.
func lengths(b []byte, n int) (sizes []int64, rest []byte, err error) {
	rest, err = deltas(b, n, false, func(v int64) error {
		if v < 0 {
			return fmt.Errorf("it has a string of length %d", v)
		}
		sizes = append(sizes, v)
		return nil
	})
	return sizes, rest, err
}

// plainWords decodes n numbers of 4 or 8 bytes. Split, the page holds all first bytes, then all
// second bytes and so on (BYTE_STREAM_SPLIT).
func plainWords(b []byte, n, size int, split bool, each func(v uint64) error) error {
	if n > len(b)/size || split && n*size != len(b) {
		return errPageShort
	}
	stride := len(b) / size
	for i := range n {
		var v uint64
		switch {
		case split:
			for k := range size {
				v |= uint64(b[k*stride+i]) << (8 * k)
			}
		case size == 4:
			v = uint64(binary.LittleEndian.Uint32(b[4*i:]))
		default:
			v = binary.LittleEndian.Uint64(b[8*i:])
		}
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}
