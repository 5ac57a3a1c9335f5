// Package cputime tells how long this process has had processors: a measure of work that other programs on the machine do
// not change.
package cputime
