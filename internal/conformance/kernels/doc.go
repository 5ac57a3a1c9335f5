// Package kernels holds small kernels for the tests of devices that launch kernels, one for each thing that the
// dialect and a driver promise.
package kernels
