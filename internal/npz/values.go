package npz

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Floats reads all elements of a numeric or bool array as T, in row-major order whatever the order
// in the file. Integers and float64 are rounded to the nearest T.
func Floats[T float32 | float64](a *Array) ([]T, error) {
	o := a.dtype.order
	var get func(b []byte) (T, error)
	switch a.dtype.kind {
	case 'f':
		if a.dtype.size == 4 {
			get = func(b []byte) (T, error) { return T(math.Float32frombits(o.Uint32(b))), nil }
		} else {
			get = func(b []byte) (T, error) { return T(math.Float64frombits(o.Uint64(b))), nil }
		}
	case 'u', 'b':
		load := a.unsigned()
		get = func(b []byte) (T, error) { return T(load(b)), nil }
	case 'i':
		load := a.signed()
		get = func(b []byte) (T, error) { return T(load(b)), nil }
	default:
		return nil, a.Errorf("it holds %s; want numbers", a.Type())
	}
	return values(a, get)
}

// Ints reads all elements of an integer or bool array as T, in row-major order. An element that T
// cannot hold is an error.
func Ints[T int32 | int64](a *Array) ([]T, error) {
	var get func(b []byte) (T, error)
	switch a.dtype.kind {
	case 'u', 'b':
		load := a.unsigned()
		get = func(b []byte) (T, error) {
			v := load(b)
			if t := T(v); t >= 0 && uint64(t) == v {
				return t, nil
			}
			return 0, fmt.Errorf("%d does not fit %T", v, T(0))
		}
	case 'i':
		load := a.signed()
		get = func(b []byte) (T, error) {
			v := load(b)
			if t := T(v); int64(t) == v {
				return t, nil
			}
			return 0, fmt.Errorf("%d does not fit %T", v, T(0))
		}
	default:
		return nil, a.Errorf("it holds %s; want integers", a.Type())
	}
	return values(a, get)
}

func (a *Array) unsigned() func(b []byte) uint64 {
	o := a.dtype.order
	switch a.dtype.size {
	case 1:
		if a.dtype.kind == 'b' {
			return func(b []byte) uint64 { return uint64(min(b[0], 1)) }
		}
		return func(b []byte) uint64 { return uint64(b[0]) }
	case 2:
		return func(b []byte) uint64 { return uint64(o.Uint16(b)) }
	case 4:
		return func(b []byte) uint64 { return uint64(o.Uint32(b)) }
	}
	return o.Uint64
}

func (a *Array) signed() func(b []byte) int64 {
	o := a.dtype.order
	switch a.dtype.size {
	case 1:
		return func(b []byte) int64 { return int64(int8(b[0])) }
	case 2:
		return func(b []byte) int64 { return int64(int16(o.Uint16(b))) }
	case 4:
		return func(b []byte) int64 { return int64(int32(o.Uint32(b))) }
	}
	return func(b []byte) int64 { return int64(o.Uint64(b)) }
}

// Strings reads all elements of an array of unicode or byte strings, in row-major order.
func Strings(a *Array) ([]string, error) {
	if a.dtype.kind != 'U' && a.dtype.kind != 'S' {
		return nil, a.Errorf("it holds %s; want strings", a.Type())
	}
	r, err := a.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var (
		out  = make([]string, 0, a.room())
		text []byte
		buf  [4096]byte
	)
	for i := range a.n {
		// Piece by piece: the length of a string is a promise of the header too.
		text = text[:0]
		for left := a.dtype.size; left > 0; {
			piece := buf[:min(left, len(buf))]
			if _, err := io.ReadFull(r, piece); err != nil {
				return nil, a.Errorf("element %d of %d: %w", i, a.n, unexpected(err))
			}
			left -= len(piece)
			if a.dtype.kind == 'S' {
				text = append(text, piece...)
				continue
			}
			for ; len(piece) > 0; piece = piece[4:] {
				c := a.dtype.order.Uint32(piece)
				switch {
				case c >= escape+0x80 && c <= escape+0xff:
					text = append(text, byte(c-escape))
				case c <= utf8.MaxRune && utf8.ValidRune(rune(c)):
					text = utf8.AppendRune(text, rune(c))
				default:
					return nil, a.Errorf("element %d: %#x is not a unicode character", i, c)
				}
			}
		}
		for len(text) > 0 && text[len(text)-1] == 0 {
			text = text[:len(text)-1]
		}
		out = append(out, string(text))
	}
	if err := a.end(r); err != nil {
		return nil, err
	}
	return rowMajor(a, out), nil
}

// escape + b is the character that stands for a byte b ≥ 0x80 which is not UTF-8.
const escape = 0xdc00

// values reads the elements of a one by one through get. The slice grows as the bytes arrive.
func values[D any](a *Array, get func(b []byte) (D, error)) ([]D, error) {
	r, err := a.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	size := a.dtype.size
	out := make([]D, 0, a.room())
	buf := make([]byte, 1<<16)
	for int64(len(out)) < a.n {
		chunk := buf[:min(a.n-int64(len(out)), int64(len(buf)/size))*int64(size)]
		if _, err := io.ReadFull(r, chunk); err != nil {
			return nil, a.Errorf("after element %d of %d: %w", len(out), a.n, unexpected(err))
		}
		for ; len(chunk) > 0; chunk = chunk[size:] {
			v, err := get(chunk[:size])
			if err != nil {
				return nil, a.Errorf("element %d: %w", len(out), err)
			}
			out = append(out, v)
		}
	}
	if err := a.end(r); err != nil {
		return nil, err
	}
	return rowMajor(a, out), nil
}

// end makes sure that nothing follows the last element; reaching the end also checks the
// archive's checksum.
func (a *Array) end(r io.Reader) error {
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return a.Errorf("bytes follow the last of the %d elements of shape %v", a.n, a.Shape)
	default:
		return a.Errorf("%w", err)
	}
}

// rowMajor returns v, stored as the file has it, in row-major order.
func rowMajor[D any](a *Array, v []D) []D {
	if !a.fortran || len(a.Shape) < 2 {
		return v
	}
	out := make([]D, len(v))
	index := make([]int, len(a.Shape)) // of v[p], counted with the first axis fastest
	for _, x := range v {
		q := 0
		for axis, n := range a.Shape {
			q = q*n + index[axis]
		}
		out[q] = x
		for axis := range index {
			if index[axis]++; index[axis] < a.Shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return out
}
