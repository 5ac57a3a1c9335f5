// Package archtest holds the laws of the source tree as tests: which package may import which
// (the table is in table.go), that cgo stays behind its build tag, that everything is formatted.
//
// A package that imports what its line of the table does not allow fails the tests, and so does a
// package without a line. To add a package, add its line; to add an arrow, add it and say why in
// the change: arrows point downwards only.
package archtest
