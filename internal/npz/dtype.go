package npz

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// dtype is the element type of an array: NumPy's kind letter (b, i, u, f, U, S), the bytes of one
// element and their order.
type dtype struct {
	kind  byte
	size  int
	order binary.ByteOrder
}

// parseDtype reads NumPy's notation, such as "<f4", "|b1" or ">U12".
func parseDtype(s string) (dtype, error) {
	unsupported := fmt.Errorf("element type %q is not supported: want bool, an integer of 8 to 64 bits, float32, float64 or a string", s)
	if s == "O" || s == "|O" {
		return dtype{}, fmt.Errorf("it holds Python objects (a pickle), which are not read: save it as an array of numbers or strings")
	}
	if len(s) < 3 {
		return dtype{}, unsupported
	}
	d := dtype{kind: s[1], order: binary.LittleEndian}
	switch s[0] {
	case '<', '|':
	case '>':
		d.order = binary.BigEndian
	default:
		return dtype{}, unsupported
	}
	n, err := strconv.Atoi(s[2:])
	if err != nil || n < 0 || n > 1<<30 {
		return dtype{}, unsupported
	}
	d.size = n
	ok := false
	switch d.kind {
	case 'b':
		ok = n == 1
	case 'i', 'u':
		ok = n == 1 || n == 2 || n == 4 || n == 8
	case 'f':
		ok = n == 4 || n == 8
	case 'S':
		ok = true
	case 'U':
		d.size, ok = 4*n, true
	}
	if !ok {
		return dtype{}, unsupported
	}
	return d, nil
}

// String names the type as NumPy does in words: bool, int32, float64, str, bytes.
func (d dtype) String() string {
	switch d.kind {
	case 'b':
		return "bool"
	case 'i':
		return "int" + strconv.Itoa(8*d.size)
	case 'u':
		return "uint" + strconv.Itoa(8*d.size)
	case 'f':
		return "float" + strconv.Itoa(8*d.size)
	case 'U':
		return "str"
	}
	return "bytes"
}

// elements multiplies the sizes of a shape; ok is false when one is negative or the bytes of the
// array would overflow an int64.
func elements(shape []int, size int) (n int64, ok bool) {
	n = 1
	const most = 1<<63 - 1
	limit := int64(most) / int64(max(size, 1))
	empty := false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, false
		case d == 0:
			empty = true
		case n > limit/int64(d):
			return 0, false
		default:
			n *= int64(d)
		}
	}
	if empty {
		return 0, true
	}
	return n, true
}
