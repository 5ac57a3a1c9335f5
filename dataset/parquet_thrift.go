package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

var (
	errThriftShort = errors.New("it breaks off")
	errThriftLies  = errors.New("a size in it is larger than what follows")
	errThriftDeep  = errors.New("it is nested too deeply")
)

// decodeThrift decodes the structure that b begins with and returns how many bytes it took.
//
// The library's decoder allocates lists and strings at the length they claim, which may be
// gigabytes in a file of a few bytes. Every length is therefore checked against the bytes that
// are there before the decoder sees them.
func decodeThrift(b []byte, into any) (size int, err error) {
	s := thriftScan{b: b}
	if err := s.structure(0); err != nil {
		return 0, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be decoded: %v", p)
		}
	}()
	protocol := new(thrift.CompactProtocol)
	return s.at, thrift.Unmarshal(protocol, b[:s.at], into)
}

// thriftScan walks over values in Thrift's compact protocol.
type thriftScan struct {
	b  []byte
	at int
}

// Types of values, as the compact protocol numbers them.
const (
	thriftTrue, thriftFalse  = 1, 2
	thriftByte               = 3
	thriftI16, thriftI32     = 4, 5
	thriftI64, thriftDouble  = 6, 7
	thriftBinary, thriftList = 8, 9
	thriftSet, thriftMap     = 10, 11
	thriftStruct, thriftUUID = 12, 13
)

func (s *thriftScan) structure(depth int) error {
	if depth > 16 {
		return errThriftDeep
	}
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number is not told by its distance from the last one
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		switch typ := head & 15; typ {
		case thriftTrue, thriftFalse: // the type is the value
		default:
			if err := s.value(typ, depth); err != nil {
				return err
			}
		}
	}
}

func (s *thriftScan) value(typ byte, depth int) error {
	switch typ {
	case thriftTrue, thriftFalse, thriftByte:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.varint()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftUUID:
		return s.skip(16)
	case thriftBinary:
		n, err := s.varint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		return s.list(depth)
	case thriftMap:
		return s.entries(depth)
	case thriftStruct:
		return s.structure(depth + 1)
	}
	return fmt.Errorf("it has a value of unknown type %d", typ)
}

func (s *thriftScan) list(depth int) error {
	head, err := s.byte()
	if err != nil {
		return err
	}
	n, typ := uint64(head>>4), head&15
	if n == 15 {
		if n, err = s.varint(); err != nil {
			return err
		}
	}
	// No element is shorter than a byte, and no structure in Parquet's metadata than three.
	least := uint64(1)
	if typ == thriftStruct {
		least = 3
	}
	if n > uint64(len(s.b)-s.at)/least {
		return errThriftLies
	}
	for range n {
		if err := s.value(typ, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *thriftScan) entries(depth int) error {
	n, err := s.varint()
	if err != nil || n == 0 {
		return err
	}
	types, err := s.byte()
	if err != nil {
		return err
	}
	if n > uint64(len(s.b)-s.at)/2 {
		return errThriftLies
	}
	for range n {
		if err := s.value(types>>4, depth); err != nil {
			return err
		}
		if err := s.value(types&15, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *thriftScan) byte() (byte, error) {
	if s.at >= len(s.b) {
		return 0, errThriftShort
	}
	s.at++
	return s.b[s.at-1], nil
}

func (s *thriftScan) varint() (uint64, error) {
	v, n := binary.Uvarint(s.b[s.at:])
	if n == 0 {
		return 0, errThriftShort
	}
	if n < 0 {
		return 0, errThriftLies
	}
	s.at += n
	return v, nil
}

func (s *thriftScan) skip(n uint64) error {
	if n > uint64(len(s.b)-s.at) {
		return errThriftShort
	}
	s.at += int(n)
	return nil
}
