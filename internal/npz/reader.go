package npz

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// File is an open .npz. It reads from the io.ReaderAt it was opened on and holds nothing to close.
type File struct {
	name    string
	size    int64
	names   []string
	members map[string]*zip.File
}

// Error says which array of which file is wrong.
type Error struct {
	File  string
	Array string // "" where the archive itself is wrong
	Err   error
}

// Error gives "file: array "name": what is wrong".
func (e *Error) Error() string { return e.File + ": " + e.Detail() }

// Detail gives the error without the file.
func (e *Error) Detail() string {
	if e.Array == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("array %q: %v", e.Array, e.Err)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Open reads the directory of the .npz archive in the first size bytes of r. The name is used in
// errors only.
func Open(r io.ReaderAt, size int64, name string) (*File, error) {
	zr, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &Error{name, "", fmt.Errorf("not a readable .npz archive: %w", err)}
	}
	f := &File{name: name, size: size, members: map[string]*zip.File{}}
	for _, m := range zr.File {
		key, isArray := strings.CutSuffix(m.Name, ".npy")
		if !isArray {
			continue
		}
		if f.members[key] != nil {
			return nil, &Error{name, key, errors.New("it stands in the archive twice")}
		}
		f.members[key] = m
		f.names = append(f.names, key)
	}
	return f, nil
}

// Names returns the names of the arrays in the order of the archive. The slice is the file's own.
func (f *File) Names() []string { return f.names }

// Has says whether the archive holds an array of that name.
func (f *File) Has(name string) bool { return f.members[name] != nil }

// Array is one array of a File: its header. The elements are read by Floats, Ints and Strings,
// each time afresh.
type Array struct {
	Shape   []int // nil for a scalar
	dtype   dtype
	fortran bool
	n       int64
	file    *File
	name    string
	member  *zip.File
}

// Array reads the header of the named array and checks what it promises against the archive.
func (f *File) Array(name string) (*Array, error) {
	m := f.members[name]
	if m == nil {
		return nil, &Error{f.name, name, fmt.Errorf("there is no such array; the archive holds %q", f.names)}
	}
	a := &Array{file: f, name: name, member: m}
	r, err := m.Open()
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	defer r.Close()
	if a.dtype, a.Shape, a.fortran, err = readHeader(r); err != nil {
		return nil, a.Errorf("%w", err)
	}
	n, ok := elements(a.Shape, a.dtype.size)
	if !ok || int64(int(n)) != n {
		return nil, a.Errorf("shape %v of %s is impossible: want sizes of at least 0 whose product fits memory", a.Shape, a.Type())
	}
	if a.n = n; n > 0 && a.dtype.size == 0 {
		return nil, a.Errorf("shape %v of strings of no length: want a length of at least 1", a.Shape)
	}
	if need, have := uint64(n*int64(a.dtype.size)), m.UncompressedSize64; need > have {
		return nil, a.Errorf("shape %v of %s needs %d bytes, but the archive holds only %d", a.Shape, a.Type(), need, have)
	}
	return a, nil
}

// Type names the element type: bool, int8 … int64, uint8 … uint64, float32, float64, str or bytes.
func (a *Array) Type() string { return a.dtype.String() }

// Len returns the number of elements: the product of the shape, 1 for a scalar.
func (a *Array) Len() int { return int(a.n) }

// Errorf returns an *Error about the array.
func (a *Array) Errorf(format string, args ...any) error {
	return &Error{a.file.name, a.name, fmt.Errorf(format, args...)}
}

// stream is the elements of an array as bytes.
type stream struct {
	*bufio.Reader
	io.Closer
}

// open returns the elements as bytes.
func (a *Array) open() (stream, error) {
	r, err := a.member.Open()
	if err != nil {
		return stream{}, a.Errorf("%w", err)
	}
	b := bufio.NewReaderSize(r, 1<<16)
	if _, _, _, err = readHeader(b); err != nil { // read before, to the same end
		r.Close()
		return stream{}, a.Errorf("%w", err)
	}
	return stream{b, r}, nil
}

// room returns how many elements to make room for before any was read: no more than the bytes in
// the file could hold when they are compressed eightfold.
func (a *Array) room() int64 {
	held := min(a.member.CompressedSize64, uint64(a.file.size))
	return min(a.n, int64(8*held)/int64(max(a.dtype.size, 1))+1)
}
