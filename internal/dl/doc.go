// Package dl opens shared libraries at run time, without cgo and without anything to link against, so
// that one build uses a driver where there is one and says so where there is none.
//
// Libraries open on Linux and macOS, on amd64 and arm64; elsewhere Open finds none.
//
// A caller tests for a symbol with Sym before it calls it: a library may be older than the
// caller. Tests put a fake in the place of Open.
package dl
