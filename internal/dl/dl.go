package dl

import "errors"

// ErrNotFound says that a library, or a symbol in it, is not there.
var ErrNotFound = errors.New("not found")

// Library is an open shared library.
type Library interface {
	// Sym returns the address of a function, or an error that wraps ErrNotFound.
	Sym(name string) (uintptr, error)
	// Close gives the library back. Functions of it must not be called any more.
	Close() error
}

// Opener opens the first library of names that there is. Open is one.
type Opener func(names ...string) (Library, error)
